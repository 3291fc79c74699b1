//! Output of a program that a test has started.

use std::io::Read;
use std::sync::mpsc::{Receiver, channel};

/// Reads a stream to its end beside the test, so that the program never waits for a reader.
pub fn collect(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}
