//! Standard input and output.

use crate::harness::{Folder, MPIEXEC, launcher, mpiexec};

pub const TESTS: &[(&str, fn())] = &[
    (
        "forwarding::input_reaches_rank_0_only",
        input_reaches_rank_0_only,
    ),
    ("forwarding::input_for_all", input_for_all),
    (
        "forwarding::input_is_not_read_ahead",
        input_is_not_read_ahead,
    ),
    ("forwarding::lines_stay_whole", lines_stay_whole),
    (
        "forwarding::bytes_stay_what_they_are",
        bytes_stay_what_they_are,
    ),
    ("forwarding::a_reader_that_leaves", a_reader_that_leaves),
    ("forwarding::a_full_disk", a_full_disk),
    (
        "forwarding::a_pipeline_left_behind_may_finish",
        a_pipeline_left_behind_may_finish,
    ),
];

fn input_reaches_rank_0_only() {
    let script = "echo $PMI_RANK $(wc -c)";
    let outcome = mpiexec(["-n", "3", "sh", "-c", script])
        .input(vec![b'x'; 1 << 20])
        .run();
    assert_eq!(outcome.good().sorted(), ["0 1048576", "1 0", "2 0"]);
    let other = mpiexec(["-n", "2", "-s", "1", "sh", "-c", script])
        .input("abc")
        .run();
    assert_eq!(other.good().sorted(), ["0 0", "1 3"]);
}

fn input_for_all() {
    let text: Vec<u8> = (0..3_000_000u32).map(|number| number as u8).collect();
    let script = "echo $(cksum)";
    let expected = launcher("sh", ["-c", script]).input(text.clone()).run();
    let expected = expected.good().output.trim().to_owned();
    let outcome = mpiexec(["-n", "3", "-s", "all", "sh", "-c", script])
        .input(text)
        .run();
    assert_eq!(outcome.good().sorted(), [expected.as_str(); 3]);
    let none = mpiexec(["-n", "1", "-s", "none", "wc", "-c"])
        .input("abc")
        .run();
    assert_eq!(none.good().output.trim(), "0");
}

fn input_is_not_read_ahead() {
    let script = format!("while read line; do echo $line; {MPIEXEC} -n 2 true; done");
    let outcome = launcher("sh", ["-c", &script]).input("a\nb\nc\n").run();
    assert_eq!(outcome.good().output, "a\nb\nc\n");
}

fn lines_stay_whole() {
    // Lines of one letter, longer than a pipe takes at once.
    let script = "i=0; line=$(head -c 9000 /dev/zero | tr '\\0' $PMI_RANK); while [ $i -lt 100 ]; do \
                  printf %s $line; echo $line; i=$((i+1)); done";
    let outcome = mpiexec(["-n", "4", "sh", "-c", script]).run();
    let lines = outcome.good().sorted();
    assert_eq!(lines.len(), 400);
    for line in lines {
        let first = line.as_bytes()[0];
        assert!(line.len() == 18_000 && line.bytes().all(|byte| byte == first));
    }
}

fn bytes_stay_what_they_are() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..5_000_000u32)
        .map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let file = folder.file("bytes", &bytes);
    let script = format!("test $PMI_RANK = 1 || exec cat {file}");
    for ranks in ["1", "2"] {
        let outcome = mpiexec(["-n", ranks, "sh", "-c", &script]).run();
        assert!(outcome.code == 0 && outcome.bytes == bytes, "{ranks} ranks");
    }
}

fn a_reader_that_leaves() {
    for ranks in [1, 2] {
        let script = format!("{MPIEXEC} -n {ranks} yes | head -n 1; true");
        let outcome = launcher("sh", ["-c", &script]).run();
        assert_eq!(outcome.good().output, "y\n");
    }
}

fn a_full_disk() {
    let script = format!("{MPIEXEC} -n 2 echo text > /dev/full");
    let outcome = launcher("sh", ["-c", &script]).run();
    assert_eq!(outcome.code, 1);
    outcome.says("cannot write standard output");
}

fn a_pipeline_left_behind_may_finish() {
    let script = "(sleep 0.2; echo late) & echo early";
    let outcome = mpiexec(["-n", "2", "sh", "-c", script]).run();
    assert_eq!(outcome.good().sorted(), ["early", "early", "late", "late"]);
    // But what does not end by itself is ended.
    let outcome = mpiexec(["-n", "2", "sh", "-c", "sleep 1000 & echo $!"]).run();
    assert_eq!(outcome.good().output.lines().count(), 2);
}
