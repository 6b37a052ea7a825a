//! What ties a package to a signature: the name on its line of the signed list.
//!
//! Source: our own rule; the tools look the name up and check nothing else.

use crate::addr::ProviderAddr;
use crate::finding::{Finding, Rule};
use crate::platform::Platform;
use crate::version::Version;

/// The name that the archive of a package has by convention.
pub fn conventional(addr: &ProviderAddr, version: &Version, platform: &Platform) -> String {
    format!("terraform-provider-{}_{version}_{platform}.zip", addr.type_name())
}

/// What is wrong with the name of a package's line: another provider, version or platform, or no convention at all.
pub fn finding(addr: &ProviderAddr, version: &Version, platform: &Platform, name: &str) -> Option<Finding> {
    if name == conventional(addr, version, platform) {
        return None;
    }
    let names_another = name.starts_with("terraform-provider-")
        && std::path::Path::new(name).extension().is_some_and(|extension| extension == "zip")
        && name.split('_').count() == 4;
    let (rule, message) = if names_another {
        let message = format!("the signed list names the package of {addr} {version} for {platform} {name:?}");
        (Rule::UnboundSignature, message)
    } else {
        let message = format!("the package of {addr} {version} for {platform} has the unusual name {name:?}");
        (Rule::UnusualPackageName, message)
    };
    Some(Finding::new(rule, message).about(addr))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    #[test]
    fn names_bind() {
        let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
        let platform = "linux_amd64".parse().unwrap();
        let rule = |name: &str| finding(&addr, &Version::new(1, 0, 0), &platform, name).map(|finding| finding.rule);
        assert_eq!(rule("terraform-provider-widget_1.0.0_linux_amd64.zip"), None);
        assert_eq!(rule("terraform-provider-widget_0.9.0_linux_amd64.zip"), Some(Rule::UnboundSignature));
        assert_eq!(rule("terraform-provider-other_1.0.0_linux_amd64.zip"), Some(Rule::UnboundSignature));
        assert_eq!(rule("terraform-provider-widget_1.0.0_darwin_amd64.zip"), Some(Rule::UnboundSignature));
        assert_eq!(rule("widget-linux.zip"), Some(Rule::UnusualPackageName));
    }
}
