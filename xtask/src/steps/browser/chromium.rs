//! Controls a headless Chromium over a pair of pipes. They carry messages of its DevTools protocol,
//! each ended by a zero byte.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure, Context as _, Result};
use base64::prelude::{Engine as _, BASE64_STANDARD};
use serde_json::{json, Value};

/// The time limit for an answer. A machine that builds something at the same time is slow.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A browser with one tab.
pub(super) struct Chromium {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    last_id: u64,
    events: Vec<Value>,
}

impl Chromium {
    /// Starts `program` with its own profile in `folder`.
    pub(super) fn start(program: &str, folder: &Path) -> Result<Self> {
        let profile = folder.join("profile");
        if profile.exists() {
            fs::remove_dir_all(&profile).with_context(|| format!("cannot remove {}", profile.display()))?;
        }
        let log = fs::File::create(folder.join("chromium.log"))?;
        let mut child = Command::new("sh")
            // Chromium reads from descriptor 3 and writes to 4. The shell connects them to the
            // child's standard input and output.
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >&2"#, program])
            // The page is trusted, and in a container a sandbox is often not available.
            .args([
                "--headless=new",
                "--no-sandbox",
                "--remote-debugging-pipe",
                "--disable-gpu",
                "--disable-dev-shm-usage",
            ])
            .args(["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--hide-scrollbars", "--force-color-profile=srgb", "--mute-audio"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .context("cannot start the browser")?;
        let input = child.stdin.take().context("the browser has no standard input")?;
        let output = child.stdout.take().context("the browser has no standard output")?;
        let (send, messages) = mpsc::channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if send.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let mut browser = Self { child, input, messages, session: None, last_id: 0, events: Vec::new() };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}))?["targetId"].clone();
        let session = browser.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}))?;
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}))?;
        }
        Ok(browser)
    }

    /// Calls a method of the protocol, and returns its result. Keeps the events that arrive
    /// meanwhile.
    pub(super) fn call(&mut self, method: &str, parameters: Value) -> Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&message)?;
        bytes.push(0);
        self.input.write_all(&bytes).context("the browser has exited")?;
        let end = Instant::now() + TIMEOUT;
        loop {
            let message = self.next_message(end).with_context(|| format!("no answer to `{method}`"))?;
            if message["id"] != json!(id) {
                self.events.push(message);
                continue;
            }
            if let Some(error) = message.get("error") {
                bail!("`{method}` failed: {}", error["message"].as_str().unwrap_or("no reason given"));
            }
            return Ok(message["result"].clone());
        }
    }

    fn next_message(&mut self, end: Instant) -> Result<Value> {
        let remaining = end.saturating_duration_since(Instant::now());
        self.messages
            .recv_timeout(remaining)
            .map_err(|_| anyhow!("the browser has exited, or sent no message for {} s", TIMEOUT.as_secs()))
    }

    /// The events since the last call of this function.
    pub(super) fn events(&mut self) -> Result<Vec<Value>> {
        // An answer arrives after all events that happened before it.
        self.call("Runtime.evaluate", json!({"expression": "0"}))?;
        Ok(std::mem::take(&mut self.events))
    }

    /// Opens an address and waits until it is completely loaded.
    pub(super) fn open(&mut self, address: &str) -> Result<()> {
        self.events.clear();
        let opened = self.call("Page.navigate", json!({"url": address}))?;
        if let Some(error) = opened.get("errorText") {
            bail!("cannot open {address}: {error}");
        }
        let end = Instant::now() + TIMEOUT;
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let message = self.next_message(end)?;
            self.events.push(message);
        }
        Ok(())
    }

    /// Returns the value of a JavaScript expression.
    pub(super) fn evaluate(&mut self, script: &str) -> Result<Value> {
        let parameters =
            json!({"expression": script, "returnByValue": true, "awaitPromise": true, "userGesture": true});
        let answer = self.call("Runtime.evaluate", parameters)?;
        if let Some(thrown) = answer.get("exceptionDetails") {
            let message = thrown["exception"]["description"].as_str().or(thrown["text"].as_str());
            bail!("{}", message.unwrap_or("the script failed"));
        }
        Ok(answer["result"]["value"].clone())
    }

    /// Waits until a script returns `true`, up to a limit. A page draws with the next frame.
    pub(super) fn wait_for(&mut self, script: &str) -> Result<()> {
        let end = Instant::now() + TIMEOUT / 4;
        while self.evaluate(script)? != json!(true) {
            ensure!(Instant::now() < end, "timeout: this did not become true: {script}");
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Presses a key, by its name in JavaScript.
    pub(super) fn press(&mut self, key: &str) -> Result<()> {
        let text = match key {
            "Enter" => "\r",
            key if key.chars().count() == 1 => key,
            _ => "",
        };
        // Only keys with a code move the focus or press a button.
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            _ => 0,
        };
        let mut down = json!({"type": "keyDown", "key": key, "windowsVirtualKeyCode": code});
        if !text.is_empty() {
            down["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", down)?;
        self.call("Input.dispatchKeyEvent", json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code}))?;
        Ok(())
    }

    /// Presses the mouse in the middle of the first element that a selector finds. Then drags it by
    /// this many pixels to the right.
    pub(super) fn click(&mut self, selector: &str, drag: i32) -> Result<()> {
        let (x, y) = self.centre(selector)?;
        let mut mouse = |kind: &str, x: f64| {
            let event = json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event)
        };
        mouse("mousePressed", x)?;
        if drag != 0 {
            mouse("mouseMoved", x + f64::from(drag))?;
        }
        mouse("mouseReleased", x + f64::from(drag))?;
        Ok(())
    }

    /// Moves the mouse to the middle of the first element that a selector finds.
    pub(super) fn hover(&mut self, selector: &str) -> Result<()> {
        let (x, y) = self.centre(selector)?;
        self.call("Input.dispatchMouseEvent", json!({"type": "mouseMoved", "x": x, "y": y}))?;
        Ok(())
    }

    /// Taps the middle of the first element that a selector finds, as with a finger.
    pub(super) fn tap(&mut self, selector: &str) -> Result<()> {
        let (x, y) = self.centre(selector)?;
        self.call("Emulation.setTouchEmulationEnabled", json!({"enabled": true}))?;
        self.call("Input.dispatchTouchEvent", json!({"type": "touchStart", "touchPoints": [{"x": x, "y": y}]}))?;
        self.call("Input.dispatchTouchEvent", json!({"type": "touchEnd", "touchPoints": []}))?;
        self.call("Emulation.setTouchEmulationEnabled", json!({"enabled": false}))?;
        Ok(())
    }

    /// Scrolls to the first element that a selector finds. Returns its middle.
    fn centre(&mut self, selector: &str) -> Result<(f64, f64)> {
        let centre = format!(
            "(() => {{ const element = document.querySelector({selector:?}); element.scrollIntoView({{block: 'center', behavior: 'instant'}}); \
             const box = element.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        );
        let centre = self.evaluate(&centre)?;
        Ok((centre[0].as_f64().unwrap_or(0.0), centre[1].as_f64().unwrap_or(0.0)))
    }

    /// Sets the size of the screen in pixels.
    pub(super) fn set_screen(&mut self, width: u32, height: u32, is_phone: bool) -> Result<()> {
        let scale = if is_phone { 2 } else { 1 };
        let screen = json!({"width": width, "height": height, "deviceScaleFactor": scale, "mobile": is_phone});
        self.call("Emulation.setDeviceMetricsOverride", screen)?;
        Ok(())
    }

    /// Sets the system's preferences: `light` or `dark`, and no animations. Without animations, a
    /// control stays where it was found.
    pub(super) fn set_colour_scheme(&mut self, scheme: &str) -> Result<()> {
        let features = json!([
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}))?;
        Ok(())
    }

    /// Takes a screenshot of the whole page, or of the visible part.
    pub(super) fn screenshot(&mut self, path: &Path, whole_page: bool) -> Result<()> {
        let shot = json!({"format": "png", "captureBeyondViewport": whole_page, "optimizeForSpeed": true});
        let mut shot = shot;
        if whole_page {
            let size = self.call("Page.getLayoutMetrics", json!({}))?["cssContentSize"].clone();
            // A browser does not draw a longer page in one piece.
            let height = size["height"].as_f64().unwrap_or(0.0).min(16_000.0);
            shot["clip"] = json!({"x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1});
        }
        let image = self.call("Page.captureScreenshot", shot)?;
        let bytes = BASE64_STANDARD.decode(image["data"].as_str().unwrap_or_default())?;
        ensure!(bytes.len() > 1000, "the screenshot is empty");
        fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // A browser that closes on request leaves no child processes behind.
        self.session = None;
        if self.call("Browser.close", json!({})).is_err() {
            let _ = self.child.kill();
        }
        let end = Instant::now() + Duration::from_secs(10);
        while Instant::now() < end {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
