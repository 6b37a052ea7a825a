use super::*;

fn find(dialect: Dialect, windows: bool, variables: &[(&str, &str)], existing: &[&str]) -> Locations {
    let exists = |path: &Path| existing.iter().any(|there| Path::new(there) == path);
    let system = System { windows, macos: false, account_home: Some("/account".into()), exists: &exists };
    Locations::find(&variables.iter().copied().collect::<Variables>(), dialect, &system)
}

fn main_and_dir(locations: &Locations) -> (&'static str, &'static str) {
    let text = |path: &Option<PathBuf>| &*crate::path::shown(path.as_ref().unwrap()).leak();
    (text(&locations.main), text(&locations.config_dir))
}

#[test]
fn terraform_on_unix() {
    let found = find(Dialect::Terraform, false, &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")], &[]);
    assert_eq!(main_and_dir(&found), ("/h/.terraformrc", "/h/.terraform.d"));
    let found = find(Dialect::Terraform, false, &[("HOME", "")], &[]);
    assert_eq!(main_and_dir(&found).0, "/account/.terraformrc");
}

#[test]
fn tofu_on_unix() {
    let tofu = |variables: &[_], existing: &[&str]| find(Dialect::OpenTofu, false, variables, existing);
    let plain = [("HOME", "/h")];
    assert_eq!(main_and_dir(&tofu(&plain, &[])), ("/h/.tofurc", "/h/.terraform.d"));
    assert_eq!(main_and_dir(&tofu(&plain, &["/h/.terraformrc"])).0, "/h/.terraformrc");
    assert_eq!(main_and_dir(&tofu(&plain, &["/h/.terraformrc", "/h/.tofurc"])).0, "/h/.tofurc");
    let xdg = [("HOME", "/h"), ("XDG_CONFIG_HOME", "/x"), ("XDG_DATA_HOME", "/d")];
    assert_eq!(main_and_dir(&tofu(&xdg, &[])), ("/x/opentofu/tofurc", "/x/opentofu"));
    assert_eq!(main_and_dir(&tofu(&xdg, &["/h/.terraform.d"])), ("/x/opentofu/tofurc", "/h/.terraform.d"));
    assert_eq!(main_and_dir(&tofu(&xdg, &["/h/.terraformrc"])), ("/h/.terraformrc", "/x/opentofu"));
    assert_eq!(tofu(&xdg, &[]).data_dirs, [Path::new("/h/.terraform.d"), Path::new("/d/opentofu")]);
}

#[test]
fn windows() {
    let data = [("APPDATA", "/a")];
    assert_eq!(main_and_dir(&find(Dialect::Terraform, true, &data, &[])), ("/a/terraform.rc", "/a/terraform.d"));
    assert_eq!(main_and_dir(&find(Dialect::OpenTofu, true, &data, &[])).0, "/a/tofu.rc");
    assert_eq!(main_and_dir(&find(Dialect::OpenTofu, true, &data, &["/a/terraform.rc"])).0, "/a/terraform.rc");
    assert_eq!(find(Dialect::OpenTofu, true, &[], &[]), Locations::default());
}

#[test]
fn directories_of_the_system() {
    let plugins = |variables: &[(&str, &str)]| find(Dialect::Terraform, false, variables, &[]).system_plugins;
    let places = |list: &[&str]| list.iter().map(PathBuf::from).collect::<Vec<_>>();
    let shared = ["/usr/local/share/terraform/plugins", "/usr/share/terraform/plugins"];
    let own = "/h/.local/share/terraform/plugins";
    assert_eq!(plugins(&[("HOME", "/h")]), places(&[own, shared[0], shared[1]]));
    let set = [("HOME", "/h"), ("XDG_DATA_HOME", "/d"), ("XDG_DATA_DIRS", "/x:relative:/y")];
    let wanted = ["/d/terraform/plugins", "/x/terraform/plugins", "/y/terraform/plugins"];
    assert_eq!(plugins(&set), places(&wanted));
}

#[test]
fn the_environment_names_the_only_file() {
    let both = [("HOME", "/h"), ("TERRAFORM_CONFIG", "/old"), ("TF_CLI_CONFIG_FILE", "/new")];
    let found = find(Dialect::Terraform, false, &both, &[]);
    assert_eq!(found.files().unwrap(), [Path::new("/new")]);
    let found = find(Dialect::Terraform, false, &both[..2], &[]);
    assert_eq!(found.files().unwrap(), [Path::new("/old")]);
}
