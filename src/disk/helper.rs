//! Credentials helpers: programs that know the token of a host.
//!
//! The protocol: `EXE ARGS… get HOST` with nothing on standard input; exit code 0 and a JSON object on standard output,
//! `{}` for no token. What a helper says is bounded in size and time.
//!
//! Source: `github.com/hashicorp/terraform-svchost/auth/helper_program.go`; the search is `globalPluginDirs` of both
//! tools.

use std::io::{Read, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use super::cli_config::CredentialsHelper;
use crate::addr::Hostname;
use crate::error::{Error, ErrorKind};
use crate::path::shown;
use crate::platform::Platform;
use crate::settings::Secret;

/// The most that is read of either output: 64 KiB.
const MAX_OUTPUT: u64 = 64 * 1024;

/// Why a helper gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HelperError {
    #[error("credentials helper {program:?} is not in any of the plugin directories {}", all_shown(.dirs))]
    NotFound { program: String, dirs: Vec<PathBuf> },
    #[error("{0:?} is not the name of a credentials helper")]
    Name(String),
    #[error("cannot start credentials helper {}: {reason}", shown(program))]
    Start { program: PathBuf, reason: String },
    #[error("credentials helper {} did not respond within {} s", shown(program), limit.as_secs_f32())]
    Timeout { program: PathBuf, limit: Duration },
    #[error("error in credentials helper {}: {message}", shown(program))]
    Failed {
        program: PathBuf,
        /// The first line of its standard error, control characters escaped.
        message: String,
    },
    /// Standard output is no JSON object. It is not shown, since it may contain a token.
    #[error("credentials helper {} did not answer with a JSON object", shown(.0))]
    Answer(PathBuf),
    /// The run ended, or had used its budget, before there was an answer.
    #[error("a credentials helper did not respond: {0}")]
    Interrupted(String),
}

fn all_shown(dirs: &[PathBuf]) -> String {
    dirs.iter().map(|dir| shown(dir)).collect::<Vec<_>>().join(", ")
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelperProgram {
    program: PathBuf,
    args: Vec<String>,
}

impl HelperProgram {
    /// Finds `terraform-credentials-NAME` in the plugin directories: `plugins/` of each data directory, then
    /// `plugins/OS_ARCH/`. Names that end in `_vVERSION` are found too, if there is no plain one.
    pub fn find(helper: &CredentialsHelper, data_dirs: &[PathBuf]) -> Result<Self, HelperError> {
        if helper.name.is_empty() || helper.name.contains(['/', '\\', ':']) {
            return Err(HelperError::Name(helper.name.clone()));
        }
        let name = format!("terraform-credentials-{}", helper.name);
        let plugins = data_dirs.iter().map(|dir| dir.join("plugins"));
        let dirs: Vec<PathBuf> = plugins.flat_map(|dir| [dir.clone(), dir.join(Platform::host().as_str())]).collect();
        let plain = dirs.iter().map(|dir| dir.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)));
        let found = plain.into_iter().find(|path| path.is_file()).or_else(|| newest(&dirs, &name));
        match found {
            Some(program) => Ok(Self { program, args: helper.args.clone() }),
            None => Err(HelperError::NotFound { program: name, dirs }),
        }
    }

    /// Runs the helper to get the token of a host, for at most `limit`.
    pub fn token(&self, host: &Hostname, limit: Duration) -> Result<Option<Secret>, HelperError> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).args(["get", host.as_ascii()]);
        let (status, stdout, stderr) = run(command, None, limit)?;
        if !status.success() {
            return Err(HelperError::Failed { program: self.program.clone(), message: first_line(&stderr) });
        }
        match serde_json::from_slice(&stdout) {
            Ok(serde_json::Value::Object(object)) => {
                Ok(object.get("token").and_then(serde_json::Value::as_str).and_then(Secret::new))
            }
            _ => Err(HelperError::Answer(self.program.clone())),
        }
    }
}

/// Runs a credentials helper of Docker, a program on the `PATH`; `None` if it has no credentials for the server.
///
/// Source: `github.com/docker/docker-credential-helpers`, `client`.
pub fn docker_credential(program: &str, server: &str, limit: Duration) -> Result<Option<Vec<u8>>, String> {
    const NOT_FOUND: &str = "credentials not found in native keychain";
    if program.contains(['/', '\\', ':']) {
        return Err(format!("{program:?} is not the name of a credentials helper"));
    }
    let mut command = Command::new(program);
    command.arg("get");
    let (status, stdout, stderr) = run(command, Some(server), limit).map_err(|error| error.to_string())?;
    if status.success() {
        return Ok(Some(stdout));
    }
    // It says so on standard output.
    if String::from_utf8_lossy(&stdout).trim() == NOT_FOUND || String::from_utf8_lossy(&stderr).trim() == NOT_FOUND {
        return Ok(None);
    }
    Err(format!("error in {program}: {}", first_line(&stderr)))
}

fn run(
    mut command: Command,
    input: Option<&str>,
    limit: Duration,
) -> Result<(ExitStatus, Vec<u8>, Vec<u8>), HelperError> {
    let program = PathBuf::from(command.get_program());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = command.spawn();
    let mut child =
        started.map_err(|error| HelperError::Start { program: program.clone(), reason: error.to_string() })?;
    if let Some(mut stdin) = child.stdin.take() {
        // A helper that does not read says what it says.
        let _ = stdin.write_all(input.unwrap_or_default().as_bytes());
    }
    let answer = wait(&mut child, limit);
    if answer.is_none() {
        // It may have ended by now, so errors are ignored.
        let _ = child.kill();
        let _ = child.wait();
    }
    answer.ok_or(HelperError::Timeout { program, limit })
}

/// The newest of the programs `NAME_vVERSION`.
fn newest(dirs: &[PathBuf], name: &str) -> Option<PathBuf> {
    let prefix = format!("{name}_v");
    let entries = dirs.iter().filter_map(|dir| std::fs::read_dir(dir).ok()).flatten().flatten();
    let versioned = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let text = name.strip_prefix(&prefix)?.strip_suffix(std::env::consts::EXE_SUFFIX)?;
        let numbers: Option<Vec<u64>> = text.split('.').map(|part| part.parse().ok()).collect();
        Some((numbers?, entry.path())).filter(|(_, path)| path.is_file())
    });
    versioned.max().map(|(_, path)| path)
}

/// The exit status and both outputs; `None` after a timeout.
fn wait(child: &mut Child, limit: Duration) -> Option<(ExitStatus, Vec<u8>, Vec<u8>)> {
    const TICK: Duration = Duration::from_millis(5);
    let stdout = read_aside(child.stdout.take());
    let stderr = read_aside(child.stderr.take());
    let mut left = limit;
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            // The outputs end with the program, unless a process that it started keeps them open.
            return Some((status, stdout.recv_timeout(left).ok()?, stderr.recv_timeout(left).ok()?));
        }
        left = left.checked_sub(TICK)?;
        std::thread::sleep(TICK);
    }
}

/// Reads a pipe on a thread of its own, so a full one never blocks the program.
fn read_aside(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read until an error is the output; a cut answer is no JSON.
            let _ = pipe.by_ref().take(MAX_OUTPUT).read_to_end(&mut bytes);
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
        }
        let _ = sender.send(bytes);
    });
    receiver
}

fn first_line(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text.trim().lines().next().unwrap_or("it gave no reason");
    line.chars().take(300).flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

impl From<HelperError> for Error {
    fn from(error: HelperError) -> Self {
        let kind = match error {
            HelperError::NotFound { .. } | HelperError::Name(_) | HelperError::Start { .. } => ErrorKind::Settings,
            HelperError::Timeout { .. }
            | HelperError::Failed { .. }
            | HelperError::Answer(_)
            | HelperError::Interrupted(_) => ErrorKind::Unauthorized,
        };
        Error::new(kind, error.to_string())
            .hint("a TF_TOKEN_… variable for the host takes precedence over credential helpers")
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn with_script(name: &str, script: &str) -> (tempfile::TempDir, Result<HelperProgram, HelperError>) {
        let data = tempfile::tempdir().unwrap();
        let plugins = data.path().join("plugins");
        std::fs::create_dir(&plugins).unwrap();
        let path = plugins.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let helper = CredentialsHelper { name: "test".into(), args: vec!["-x".into()] };
        let found = HelperProgram::find(&helper, &[data.path().to_path_buf()]);
        (data, found)
    }

    fn token(script: &str, limit: Duration) -> Result<Option<Secret>, HelperError> {
        let (_data, found) = with_script("terraform-credentials-test", script);
        let found = found.unwrap();
        loop {
            match found.token(&Hostname::parse("Example.com:8443").unwrap(), limit) {
                // Another test's child may hold our script open for writing between its fork and its exec.
                Err(HelperError::Start { reason, .. }) if reason.contains("busy") => {}
                answer => return answer,
            }
        }
    }

    #[test]
    fn answers() {
        let shown = token(r#"printf '{"token": "%s", "other": 1}' "$*""#, LONG).unwrap();
        assert_eq!(shown.unwrap().reveal(), "-x get example.com:8443");
        assert_eq!(token("echo '{}'", LONG), Ok(None));
        assert_eq!(token(r#"echo '{"token": ""}'"#, LONG), Ok(None));
    }

    #[test]
    fn failures_say_why_but_never_show_the_answer() {
        let failed = token("echo secret; printf 'no\\033[31m luck\\nmore' >&2; exit 3", LONG).unwrap_err();
        assert!(matches!(&failed, HelperError::Failed { message, .. } if message == "no\\u{1b}[31m luck"), "{failed}");
        let nonsense = token("echo secret", LONG).unwrap_err();
        assert!(matches!(nonsense, HelperError::Answer(_)));
        assert!(!format!("{nonsense:?}").contains("secret"));
    }

    #[test]
    fn much_output_does_not_block_and_silence_is_bounded() {
        assert!(matches!(token("head -c 1000000 /dev/zero; exit 0", LONG), Err(HelperError::Answer(_))));
        let silent = token("exec sleep 1000", Duration::from_millis(20));
        assert!(matches!(silent, Err(HelperError::Timeout { .. })));
    }

    #[test]
    fn the_search() {
        let (data, plain) = with_script("terraform-credentials-test", "");
        std::fs::write(data.path().join("plugins/terraform-credentials-test_v9.0.0"), "").unwrap();
        assert_eq!(plain.unwrap().program, data.path().join("plugins/terraform-credentials-test"));

        let (data, _) = with_script("terraform-credentials-test_v1.9.0", "");
        std::fs::write(data.path().join("plugins/terraform-credentials-test_v1.10.0"), "").unwrap();
        let helper = CredentialsHelper { name: "test".into(), args: Vec::new() };
        let found = HelperProgram::find(&helper, &[data.path().to_path_buf()]).unwrap();
        assert_eq!(found.program, data.path().join("plugins/terraform-credentials-test_v1.10.0"));

        let named = |name: &str| HelperProgram::find(&CredentialsHelper { name: name.into(), args: Vec::new() }, &[]);
        assert!(matches!(named("absent"), Err(HelperError::NotFound { .. })));
        assert!(matches!(named("../evil"), Err(HelperError::Name(_))));
    }
}
