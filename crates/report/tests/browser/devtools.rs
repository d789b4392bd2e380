//! A headless Chromium, spoken to by its debugging protocol.
//!
//! Data in: a page. Data out: what it says, what it complains of, what it asks for, pictures of it. It must not know what a
//! page is about.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, ErrorKind};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tungstenite::{Message, WebSocket};

/// The names that the program goes by.
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The program, where there is one on the path.
pub(crate) fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let candidates = PROGRAMS
        .iter()
        .flat_map(|name| directories.iter().map(move |directory| directory.join(name)));
    candidates.into_iter().find(|candidate| candidate.is_file())
}

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    socket: WebSocket<TcpStream>,
    session: String,
    last_id: u64,
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts it with an empty profile and without a network.
    pub(crate) fn start(program: &Path) -> Self {
        let profile = tempfile::tempdir().expect("a directory for the browser's profile");
        let mut child = Command::new(program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-extensions",
                "--disable-background-networking",
                "--disable-component-update",
                "--no-first-run",
                "--no-default-browser-check",
                "--remote-debugging-port=0",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("chromium starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("DevTools listening on ").map(str::to_owned))
            .expect("chromium says where it listens");
        // Its complaints about the machine must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let host = address
            .trim_start_matches("ws://")
            .split('/')
            .next()
            .expect("a host");
        let stream = TcpStream::connect(host).expect("a connection to chromium");
        stream
            .set_read_timeout(Some(Duration::from_mins(2)))
            .expect("a time limit");
        let (socket, _) = tungstenite::client(address.as_str(), stream).expect("a session with chromium");
        let mut browser = Self {
            child,
            socket,
            session: String::new(),
            last_id: 0,
            events: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", &attach);
        attached["sessionId"]
            .as_str()
            .expect("a session")
            .clone_into(&mut browser.session);
        for domain in ["Runtime.enable", "Log.enable", "Network.enable", "Page.enable"] {
            browser.call(domain, &json!({}));
        }
        browser.desktop();
        browser
    }

    /// Calls a method and waits for its answer; events that come first are kept.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.socket
            .send(Message::text(message.to_string()))
            .expect("chromium listens");
        loop {
            let answer = match self.socket.read() {
                Ok(Message::Text(text)) => serde_json::from_str::<Value>(&text).expect("JSON"),
                Ok(_) => continue,
                // A socket with a time limit is not read again by the kernel once its thread was stopped and goes on.
                Err(tungstenite::Error::Io(error)) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => panic!("chromium answers: {error}"),
            };
            if answer["id"] == json!(id) {
                assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    /// Opens a file as a page; what was heard before is forgotten.
    pub(crate) fn open(&mut self, page: &Path) {
        self.visit(&format!("file://{}", page.display()));
    }

    /// Opens a page; what was heard before is forgotten.
    pub(crate) fn visit(&mut self, url: &str) {
        self.events.clear();
        let opened = self.call("Page.navigate", &json!({"url": url}));
        assert_eq!(opened.get("errorText"), None, "{url}");
    }

    /// The value of an expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", &asked);
        let failed = &answer["exceptionDetails"]["exception"]["description"];
        assert!(failed.is_null(), "{failed}");
        answer["result"]["value"].clone()
    }

    /// Errors and warnings that the page or the browser wrote to the console.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let complaint = |event: &Value| {
            let params = &event["params"];
            match event["method"].as_str()? {
                "Runtime.exceptionThrown" => Some(params["exceptionDetails"].to_string()),
                "Runtime.consoleAPICalled" if params["type"] == "error" || params["type"] == "warning" => {
                    Some(params["args"].to_string())
                }
                "Log.entryAdded" if params["entry"]["level"] == "error" => Some(params["entry"].to_string()),
                _ => None,
            }
        };
        self.events.iter().filter_map(complaint).collect()
    }

    /// What the page asked for beside itself.
    pub(crate) fn requests(&self) -> Vec<String> {
        let asked = self
            .events
            .iter()
            .filter(|event| event["method"] == "Network.requestWillBeSent")
            .filter_map(|event| event["params"]["request"]["url"].as_str());
        asked
            .filter(|url| !["file:", "data:", "blob:"].iter().any(|own| url.starts_with(own)))
            .map(str::to_owned)
            .collect()
    }

    /// Light or dark, as the user likes it.
    pub(crate) fn scheme(&mut self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": value}]});
        self.call("Emulation.setEmulatedMedia", &features);
        self.settle();
    }

    /// A screen of a desk.
    pub(crate) fn desktop(&mut self) {
        self.screen(1280, 900, false);
    }

    /// A screen of a phone.
    pub(crate) fn phone(&mut self) {
        self.screen(390, 844, true);
    }

    fn screen(&mut self, width: u32, height: u32, mobile: bool) {
        let screen = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile});
        self.call("Emulation.setDeviceMetricsOverride", &screen);
        self.settle();
    }

    /// Gives the page time to draw anew.
    fn settle(&mut self) {
        self.evaluate("new Promise((done) => setTimeout(done, 1200))");
    }

    /// A picture of the whole page, in parts of 1500 lines: `x.png`, `x-2.png` and so on.
    pub(crate) fn picture(&mut self, file: &Path) {
        let size =
            self.evaluate("[document.documentElement.clientWidth, document.documentElement.scrollHeight]");
        let (width, height) = (size[0].as_u64().unwrap_or(0), size[1].as_u64().unwrap_or(0));
        for part in 0..height.div_ceil(1500).min(8) {
            let top = part * 1500;
            let clip =
                json!({"x": 0, "y": top, "width": width, "height": (height - top).min(1500), "scale": 1});
            let asked = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
            let answer = self.call("Page.captureScreenshot", &asked);
            let name = match part {
                0 => file.to_owned(),
                part => file.with_extension(format!("{}.png", part + 1)),
            };
            std::fs::write(name, decode(answer["data"].as_str().expect("a picture"))).expect("a file");
        }
    }

    /// The page as it would be printed.
    pub(crate) fn print(&mut self, file: &Path) {
        let answer = self.call(
            "Page.printToPDF",
            &json!({"preferCSSPageSize": true, "paperWidth": 8.27, "paperHeight": 11.69}),
        );
        std::fs::write(file, decode(answer["data"].as_str().expect("a document"))).expect("a file");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser takes its own helpers with it.
        let close = json!({"id": 0, "method": "Browser.close"});
        let told = self.socket.send(Message::text(close.to_string()));
        for _ in 0..100 {
            if told.is_err() || !matches!(self.child.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        // Whether it is gone already does not matter.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn decode(text: &str) -> Vec<u8> {
    data_encoding::BASE64.decode(text.as_bytes()).expect("base64")
}
