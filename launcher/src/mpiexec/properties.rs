//! Properties that hold for any input: merged output, and every parser of text from outside.

use super::lines::{IDLE, Merger};
use super::request::{Answer, StandardInput};
use super::server::{Effect, Server};
use super::{arguments, elf, hosts, machine, rankfile, request, tools, words};
use proptest::prelude::*;
use std::ffi::OsString;
use std::time::{Duration, Instant};

/// A stream's letters are its own, so that the merged output can be taken apart again.
fn piece() -> impl Strategy<Value = (usize, Vec<bool>, u64)> {
    // Stream; for each byte whether it is a line feed; milliseconds that pass before it.
    (
        0..3usize,
        prop::collection::vec(prop::bool::weighted(0.2), 0..12),
        0..60u64,
    )
}

proptest! {
    #[test]
    fn merged_lines_are_whole_and_complete(pieces in prop::collection::vec(piece(), 0..60)) {
        let mut now = Instant::now();
        let mut merger = Merger::new();
        for _ in 0..3 {
            merger.add(Vec::new(), now);
        }
        let mut sent = [const { Vec::new() }; 3];
        for (stream, feeds, pause) in pieces {
            now += Duration::from_millis(pause);
            let bytes: Vec<u8> = feeds.iter().map(|feed| if *feed { b'\n' } else { b'a' + stream as u8 }).collect();
            sent[stream].extend_from_slice(&bytes);
            merger.accept(stream, &bytes, now);
            // Time passes, but never so much that a line is opened: then line feeds may be added.
            prop_assert!(Duration::from_millis(pause) < IDLE);
        }
        merger.finish();
        let lines: Vec<&[u8]> = merger.out.split_inclusive(|byte| *byte == b'\n').collect();
        let mut letters = [0; 3];
        for (index, line) in lines.iter().enumerate() {
            let mut found: Vec<u8> = line.iter().copied().filter(|byte| *byte != b'\n').collect();
            for letter in &found {
                letters[(letter - b'a') as usize] += 1;
            }
            found.dedup();
            // Only what never got its line feed may stand together, at the very end.
            prop_assert!(found.len() <= 1 || index + 1 == lines.len(), "{:?}", merger.out);
        }
        for (stream, bytes) in sent.iter().enumerate() {
            let expected = bytes.iter().filter(|byte| **byte != b'\n').count();
            prop_assert_eq!(letters[stream], expected);
        }
        let feeds = sent.iter().flatten().filter(|byte| **byte == b'\n').count();
        prop_assert_eq!(merger.out.iter().filter(|byte| **byte == b'\n').count(), feeds);
    }

    #[test]
    fn with_time_passing_nothing_is_lost(pieces in prop::collection::vec(piece(), 0..60), scale in 1..20u32) {
        let mut now = Instant::now();
        let mut merger = Merger::new();
        for _ in 0..3 {
            merger.add(b"> ".to_vec(), now);
        }
        let mut sent = 0;
        for (stream, feeds, pause) in pieces {
            now += Duration::from_millis(pause) * scale;
            merger.tick(now);
            let bytes: Vec<u8> = feeds.iter().map(|feed| if *feed { b'\n' } else { b'a' + stream as u8 }).collect();
            sent += bytes.iter().filter(|byte| **byte != b'\n').count();
            merger.accept(stream, &bytes, now);
        }
        merger.finish();
        for line in merger.out.split(|byte| *byte == b'\n') {
            let mut letters: Vec<u8> = line.iter().copied().filter(u8::is_ascii_alphabetic).collect();
            letters.dedup();
            prop_assert!(letters.len() <= 1, "{:?}", String::from_utf8_lossy(&merger.out));
        }
        prop_assert_eq!(merger.out.iter().filter(|byte| byte.is_ascii_alphabetic()).count(), sent);
    }

    #[test]
    fn every_request_of_one_line_is_answered_once_or_has_an_effect(
        lines in prop::collection::vec("(cmd=(init|get|put|barrier_in|abort|finalize|publish_name|get_appnum|x)|mcmd=spawn|endcmd|.{0,20})( (key|value|service|port|exitcode|pmi_version)=[a-z0-9 -]{0,8}){0,4}", 0..30),
    ) {
        let mut server = Server::new(vec![0, 0], None, String::new(), &[]);
        let mut in_barrier = [false; 2];
        for (index, line) in lines.iter().enumerate() {
            let rank = index % 2;
            for effect in server.line(rank, line) {
                if let Effect::Reply(to, text) = effect {
                    prop_assert!(to < 2 && !text.contains('\n'));
                    if text.starts_with("cmd=barrier_out") {
                        in_barrier[to] = false;
                    }
                }
            }
            in_barrier[rank] |= server.waiting().any(|waiting| waiting == rank);
        }
        let waiting: Vec<usize> = server.waiting().collect();
        prop_assert!(waiting.len() < 2);
    }

    #[test]
    fn no_text_makes_a_parser_fall_over(text in any::<String>(), bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = words::logical_lines(&text);
        let _ = words::split(&text);
        let _ = hosts::parse_line(&text);
        let _ = machine::number_list(&text);
        let _ = tools::Tool::parse(&text);
        let _ = request::OutputFolder::parse(&text);
        let one = machine::Machine::of(&[0]);
        let _ = rankfile::entry(&text, &one, false);
        let _ = rankfile::entry(&format!("rank 0=localhost slot={text}"), &one, true);
        let _ = StandardInput::parse(&text);
        let mut file = b"\x7fELF\x02\x01".to_vec();
        file.extend(bytes);
        let _ = elf::read(&|at, into| {
            let rest = usize::try_from(at).ok().and_then(|at| file.get(at..)).unwrap_or_default();
            let count = rest.len().min(into.len());
            into[..count].copy_from_slice(&rest[..count]);
            count
        });
    }

    #[test]
    fn words_survive_quoting(given in prop::collection::vec("[^\n']{0,10}", 0..6)) {
        let line: Vec<String> = given.iter().map(|word| format!("'{word}'")).collect();
        prop_assert_eq!(words::split(&line.join(" ")).unwrap(), given);
    }

    #[test]
    fn a_command_line_is_a_request_or_a_text(line in prop::collection::vec("-?-?(n|np|l|genv|x|s|timeout|bind-to|:|a|wdir|=|1|A=B)?", 0..8)) {
        let arguments: Vec<OsString> = line.iter().map(OsString::from).collect();
        match arguments::parse(&arguments, &|path| std::fs::read_to_string(path)) {
            Ok(Answer::Run(request)) => {
                prop_assert!(!request.programs.is_empty());
                prop_assert!(request.programs.iter().all(|program| !program.command.is_empty()));
            }
            Ok(_) => {}
            Err(text) => prop_assert!(!text.is_empty()),
        }
    }
}
