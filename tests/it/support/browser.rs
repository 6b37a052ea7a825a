//! A browser without a window, driven through its `DevTools` protocol over two pipes.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::tools::found;

pub struct Browser {
    child: Child,
    /// Its profile.
    _profile: TempDir,
    pipes: RefCell<(ChildStdin, BufReader<ChildStdout>)>,
}

/// A page that is loaded, and what the browser complained of.
pub struct Page<'b> {
    browser: &'b Browser,
    session: String,
    complaints: RefCell<Vec<Value>>,
}

impl Browser {
    /// `None` without Chromium, and a line on stderr says so.
    pub fn start() -> Option<Self> {
        let chromium = found("chromium")?;
        let profile = super::tempdir();
        // It talks on the descriptors 3 and 4.
        let script = r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"#;
        let user_data = format!("--user-data-dir={}", profile.path().display());
        let mut child = Command::new("sh")
            .args(["-c", script])
            .arg(chromium)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--remote-debugging-pipe",
            ])
            .arg(user_data)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let pipes = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Some(Self { child, _profile: profile, pipes: RefCell::new(pipes) })
    }

    /// Opens a file, in a page of this width, and waits until it is loaded.
    pub fn open(&self, file: &Path, width: u32) -> Page<'_> {
        let mut complaints = Vec::new();
        let target = self.call(None, "Target.createTarget", &json!({ "url": "about:blank" }), &mut complaints);
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = self.call(None, "Target.attachToTarget", &attach, &mut complaints);
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        let page = Page { browser: self, session, complaints: RefCell::default() };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.call(&format!("{domain}.enable"), &json!({}));
        }
        page.call(
            "Emulation.setDeviceMetricsOverride",
            &json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false }),
        );
        page.call("Page.navigate", &json!({ "url": format!("file://{}", file.display()) }));
        let loaded =
            "new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', done))";
        page.evaluate(loaded);
        page
    }

    fn call(&self, session: Option<&str>, method: &str, params: &Value, events: &mut Vec<Value>) -> Value {
        let mut pipes = self.pipes.borrow_mut();
        let mut message = json!({ "id": 1, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        write!(pipes.0, "{message}\0").unwrap();
        pipes.0.flush().unwrap();
        loop {
            let mut answer = Vec::new();
            pipes.1.read_until(0, &mut answer).unwrap();
            assert_eq!(answer.pop(), Some(0), "the browser ended during {method}");
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            if answer["id"] == 1 {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            events.push(answer);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}

impl Page<'_> {
    pub fn call(&self, method: &str, params: &Value) -> Value {
        self.browser.call(Some(&self.session), method, params, &mut self.complaints.borrow_mut())
    }

    /// The value of an expression; a promise is waited for.
    #[track_caller]
    pub fn evaluate(&self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", &params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Presses keys, one after the other, or types a letter.
    pub fn press(&self, keys: &[&str]) {
        for key in keys {
            let code = if *key == "Tab" { 9 } else { 13 };
            let text = match *key {
                "Enter" => Some("\r"),
                key if key.len() == 1 => Some(key),
                _ => None,
            };
            for kind in ["keyDown", "keyUp"] {
                let mut params = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code });
                if let Some(text) = text.filter(|_| kind == "keyDown") {
                    params["text"] = json!(text);
                }
                self.call("Input.dispatchKeyEvent", &params);
            }
        }
    }

    /// What the browser logged, refused or requested since the page was opened, except the file itself.
    pub fn complaints(&self) -> Vec<Value> {
        self.evaluate("1");
        let of_interest = ["Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"];
        let is_foreign = |event: &Value| {
            let url = event["params"]["request"]["url"].as_str().unwrap_or_default();
            event["method"] == "Network.requestWillBeSent" && !url.starts_with("file:")
        };
        let all = self.complaints.borrow();
        all.iter()
            .filter(|event| of_interest.iter().any(|it| event["method"] == *it) || is_foreign(event))
            .cloned()
            .collect()
    }
}
