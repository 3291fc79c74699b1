//! `mpiexec -timeline`: c-tests/tool/timeline.c on the staged prefix, its file parsed, and every slice and arrow counted. The numbers are those of the calls
//! that the program makes.
//!
//! Invariant: of each arrow both ends lie inside of calls that send and receive, and tell the same number of bytes; the program has no two messages
//! of one stream with the same.

#[path = "../harness/staged.rs"]
mod staged;

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

struct Job {
    mpiexec: PathBuf,
    program: PathBuf,
    folder: PathBuf,
}

/// A file of events, and what mpiexec has said.
struct Timeline {
    events: Vec<Value>,
    said: String,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = std::env::temp_dir().join(format!("oxmpi-timeline-{}", std::process::id()));
    let job = || -> Result<Job, String> {
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let (mpiexec, program) = staged::compile("tool/timeline.c", "timeline")?;
        Ok(Job {
            mpiexec,
            program,
            folder: folder.clone(),
        })
    };
    let job = match job() {
        Ok(job) => job,
        Err(text) => {
            eprintln!("timeline: {text}");
            eprintln!("timeline: run `make` first, or name a prefix in OXMPI_STAGE");
            return ExitCode::FAILURE;
        }
    };
    let job: &'static Job = Box::leak(Box::new(job));
    let test = |name: &str, test: fn(&Job) -> Result<(), Failed>| {
        Trial::test(name.to_owned(), move || test(job))
    };
    let trials = vec![
        test("calls_and_messages", calls_and_messages),
        test("hosts", hosts),
        test("compressed", compressed),
        test("refusals", refusals),
        test("spawned", spawned),
        test("switched_and_limited", switched_and_limited),
    ];
    let conclusion = libtest_mimic::run(&arguments, trials);
    let _ = std::fs::remove_dir_all(&folder);
    conclusion.exit_code()
}

impl Job {
    fn run(
        &self,
        file: &str,
        options: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<String, Failed> {
        let output = Command::new(&self.mpiexec)
            .args(["-timeline", file, "-n", "4"])
            .args(options)
            .arg(&self.program)
            .envs(variables.iter().copied())
            .current_dir(&self.folder)
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(format!("{:?}: {said}", output.status).into());
        }
        Ok(said)
    }

    fn timeline(
        &self,
        file: &str,
        options: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<Timeline, Failed> {
        let said = self.run(file, options, variables)?;
        let text = std::fs::read_to_string(self.folder.join(file))?;
        let mut whole: Value = serde_json::from_str(&text)?;
        let events = whole["traceEvents"].take();
        let Value::Array(events) = events else {
            return Err("there are no events".into());
        };
        Ok(Timeline { events, said })
    }
}

fn text<'a>(event: &'a Value, key: &str) -> &'a str {
    event[key].as_str().unwrap_or_default()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

impl Timeline {
    fn of(&self, phase: &str) -> impl Iterator<Item = &Value> {
        self.events.iter().filter(move |it| text(it, "ph") == phase)
    }

    /// Calls of a function, by rank.
    fn calls(&self, name: &str) -> [usize; 4] {
        let mut calls = [0; 4];
        for event in self.of("X").filter(|it| text(it, "name") == name) {
            calls[number(&event["pid"]) as usize] += 1;
        }
        calls
    }

    /// The slice of this rank and thread that holds this moment, the innermost one that is a call.
    fn slice(&self, end: &Value) -> Option<&Value> {
        let at = number(&end["ts"]);
        let mine = self.of("X").filter(|it| {
            let begin = number(&it["ts"]);
            it["pid"] == end["pid"]
                && it["tid"] == end["tid"]
                && text(it, "cat") != "sleep"
                && begin <= at + 0.0015
                && at <= begin + number(&it["dur"]) + 0.0015
        });
        mine.min_by(|a, b| number(&a["dur"]).total_cmp(&number(&b["dur"])))
    }

    /// Arrows of a category: begin and end.
    /// Perfetto's reader leaves out slices that overlap others of their track without being inside.
    fn nests(&self) -> Result<(), Failed> {
        let mut tracks: BTreeMap<[u64; 2], Vec<(i64, i64, &Value)>> = BTreeMap::new();
        for slice in self.of("X") {
            let track = ["pid", "tid"].map(|key| slice[key].as_u64().unwrap_or(u64::MAX));
            let [begin, span] = ["ts", "dur"].map(|key| (number(&slice[key]) * 1e3).round() as i64);
            let slices = tracks.entry(track).or_default();
            slices.push((begin, begin + span, slice));
        }
        for slices in tracks.values_mut() {
            slices.sort_by_key(|(begin, end, _)| (*begin, -*end));
            let mut around: Vec<(i64, &Value)> = Vec::new();
            for (begin, end, slice) in slices {
                while around.pop_if(|(outer, _)| *outer <= *begin).is_some() {}
                if let Some((outer, other)) = around.last()
                    && outer < end
                {
                    return Err(format!("{slice} begins inside of {other} and ends later").into());
                }
                around.push((*end, slice));
            }
        }
        Ok(())
    }

    fn arrows(&self, category: &str) -> Result<Vec<(&Value, &Value)>, Failed> {
        let mut ends: BTreeMap<u64, (Option<&Value>, Option<&Value>)> = BTreeMap::new();
        for event in &self.events {
            if text(event, "cat") != category {
                continue;
            }
            let pair = ends
                .entry(event["id"].as_u64().unwrap_or(u64::MAX))
                .or_default();
            match text(event, "ph") {
                "s" => pair.0 = Some(event),
                "f" => pair.1 = Some(event),
                _ => {}
            }
        }
        ends.into_iter()
            .map(|(id, pair)| match pair {
                (Some(from), Some(to)) => Ok((from, to)),
                _ => Err(format!("arrow {id} has one end").into()),
            })
            .collect()
    }
}

/// Calls that the program makes, by rank.
const CALLS: &[(&str, [usize; 4])] = &[
    ("MPI_Init", [1; 4]),
    ("MPI_Finalize", [1; 4]),
    ("MPI_Isend", [8, 0, 0, 0]),
    ("MPI_Irecv", [0, 9, 0, 0]),
    ("MPI_Send", [4 + 1 + 20, 20, 20, 21]),
    ("MPI_Ssend", [6, 6, 0, 1]),
    ("MPI_Recv", [20, 2 + 1 + 20, 6 + 20 + 2, 6 + 20]),
    ("MPI_Send_init", [0, 0, 2, 0]),
    ("MPI_Recv_init", [0, 0, 0, 2]),
    ("MPI_Start", [0, 0, 6, 6]),
    ("MPI_Startall", [0, 0, 2, 2]),
    ("MPI_Waitall", [1, 1, 5, 5]),
    ("MPI_Wait", [4 + 2, 4 + 1 + 2 + 1, 2, 2]),
    ("MPI_Mprobe", [0, 1, 0, 0]),
    ("MPI_Mrecv", [0, 1, 0, 0]),
    ("MPI_Imrecv", [0, 1, 0, 0]),
    ("MPI_Sendrecv", [11; 4]),
    ("MPI_Sendrecv_replace", [1; 4]),
    ("MPI_Isendrecv", [1; 4]),
    ("MPI_Comm_split", [1; 4]),
    ("MPI_Comm_free", [1; 4]),
    ("MPI_Cancel", [0, 1, 0, 0]),
    ("MPI_Bcast", [5; 4]),
    ("MPI_Allreduce", [7; 4]),
    ("MPI_Ibarrier", [1; 4]),
];

/// Messages: of the nonblocking part, the persistent one, the probes, the halves, the exchanges, after the cancelled one, of the threads, late ones.
const MESSAGES: usize = 8 + 10 + 4 + 12 + 4 * (10 + 1 + 1) + 1 + 4 * 20 + 2;

fn check(timeline: &Timeline) -> Result<(), Failed> {
    for (name, wanted) in CALLS {
        let calls = timeline.calls(name);
        if calls != *wanted {
            return Err(
                format!("{name}: {calls:?} slices, the program calls it {wanted:?} times").into(),
            );
        }
    }
    timeline.nests()?;
    let arrows = timeline.arrows("message")?;
    if arrows.len() != MESSAGES {
        return Err(format!("{} arrows, {MESSAGES} messages", arrows.len()).into());
    }
    const SENDS: &[&str] = &[
        "MPI_Isend",
        "MPI_Send",
        "MPI_Ssend",
        "MPI_Start",
        "MPI_Startall",
        "MPI_Sendrecv",
        "MPI_Sendrecv_replace",
        "MPI_Isendrecv",
    ];
    const RECEIVES: &[&str] = &[
        "MPI_Recv",
        "MPI_Wait",
        "MPI_Waitall",
        "MPI_Mprobe",
        "MPI_Improbe",
        "MPI_Sendrecv",
        "MPI_Sendrecv_replace",
    ];
    for (from, to) in arrows {
        if from["args"]["bytes"] != to["args"]["bytes"] {
            return Err(format!("an arrow joins two messages: {from} {to}").into());
        }
        for (end, names) in [(from, SENDS), (to, RECEIVES)] {
            match timeline.slice(end) {
                Some(slice) if names.contains(&text(slice, "name")) => {}
                other => return Err(format!("{end} is in {other:?}").into()),
            }
        }
        if number(&from["ts"]) > number(&to["ts"]) {
            return Err(format!("an arrow goes backwards: {from} {to}").into());
        }
    }
    Ok(())
}

fn has(said: &str, words: &str) -> Result<(), Failed> {
    match said.contains(words) {
        true => Ok(()),
        false => Err(format!("mpiexec does not say '{words}': {said}").into()),
    }
}

fn calls_and_messages(job: &Job) -> Result<(), Failed> {
    let timeline = job.timeline("out.json", &[], &[])?;
    check(&timeline)?;
    // Rank 2 comes last to the barrier, and three others have waited for it.
    let late = timeline.arrows("last to come")?;
    let barrier = late.iter().filter(|(from, to)| {
        number(&from["pid"]) == 2.0
            && [from, to].iter().all(|end| {
                timeline
                    .slice(end)
                    .is_some_and(|it| text(it, "name") == "MPI_Barrier")
            })
    });
    if barrier.count() < 3 {
        return Err("nobody has waited for rank 2 in a barrier".into());
    }
    let mut comms = timeline
        .of("X")
        .filter(|it| text(it, "name") == "MPI_Ssend")
        .map(|it| text(&it["args"], "comm"));
    if !comms.any(|comm| comm == "half \"of\" them") {
        return Err("no call names its communicator".into());
    }
    has(&timeline.said, &format!("{MESSAGES} messages"))?;
    has(&timeline.said, "rank 3 to rank 2: 1 messages")?;
    has(&timeline.said, "late receivers")?;
    has(&timeline.said, "rank 2 in MPI_Barrier")
}

/// Two hosts that are one: each has a supervisor, a file of records, and a clock.
fn hosts(job: &Job) -> Result<(), Failed> {
    let agent = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts/agent");
    let agent = agent.to_string_lossy();
    // The addresses are nobody's (RFC 5737).
    let options = [
        "-launcher-exec",
        &agent,
        "-hosts",
        "192.0.2.1:2,192.0.2.2:2",
    ];
    let timeline = job.timeline("hosts.json", &options, &[("OXMPI_INTERFACE", "lo")])?;
    check(&timeline)?;
    for entry in std::fs::read_dir(&job.folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.contains("hosts.json.part-") {
            return Err(format!("{name} is left").into());
        }
    }
    Ok(())
}

fn compressed(job: &Job) -> Result<(), Failed> {
    job.run("out.json.gz", &[], &[])?;
    let output = Command::new("gzip")
        .args(["-dc", "out.json.gz"])
        .current_dir(&job.folder)
        .output()?;
    let whole: Value = serde_json::from_slice(&output.stdout)?;
    match whole["traceEvents"].as_array() {
        Some(events) if events.len() > MESSAGES => Ok(()),
        _ => Err("there are no events".into()),
    }
}

fn refusals(job: &Job) -> Result<(), Failed> {
    let output = Command::new(&job.mpiexec)
        .args(["-timeline", "/nonexistent/out.json", "-n", "2", "true"])
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() != Some(1) {
        return Err(format!("{:?}: {said}", output.status).into());
    }
    has(&said, "-timeline: cannot write /nonexistent/out.json")?;
    // Ranks that are no programs of MPI leave an empty timeline, and one that dies the calls before.
    let output = Command::new(&job.mpiexec)
        .args(["-timeline", "none.json", "-n", "2", "true"])
        .current_dir(&job.folder)
        .output()?;
    if !output.status.success() {
        return Err("a job without MPI fails".into());
    }
    let text = std::fs::read_to_string(job.folder.join("none.json"))?;
    let _: Value = serde_json::from_str(&text)?;
    Ok(())
}

/// A job that a rank spawns has a file of its own.
fn spawned(job: &Job) -> Result<(), Failed> {
    let (mpiexec, program) = staged::compile("tool/timeline_spawned.c", "timeline-spawned")?;
    let output = Command::new(mpiexec)
        .args(["-timeline", "parent.json", "-n", "1"])
        .arg(program)
        .current_dir(&job.folder)
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{:?}: {said}", output.status).into());
    }
    for (file, name) in [
        ("parent.json", "MPI_Comm_spawn"),
        ("parent-spawned-1.json", "MPI_Recv"),
    ] {
        let text = std::fs::read_to_string(job.folder.join(file))?;
        let _: Value = serde_json::from_str(&text)?;
        has(&text, name)?;
    }
    Ok(())
}

/// Calls between MPI_Pcontrol(0) and (1) are not there. Beyond half of the limit queries in a row are one slice.
fn switched_and_limited(job: &Job) -> Result<(), Failed> {
    let (mpiexec, program) = staged::compile("tool/timeline_switch.c", "timeline-switch")?;
    for limit in ["400m", "20k"] {
        let output = Command::new(&mpiexec)
            .args(["-timeline", "switch.json", "-timeline-limit", limit])
            .args(["-n", "2"])
            .arg(&program)
            .current_dir(&job.folder)
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(format!("{:?}: {said}", output.status).into());
        }
        let text = std::fs::read_to_string(job.folder.join("switch.json"))?;
        let mut whole: Value = serde_json::from_str(&text)?;
        let Value::Array(events) = whole["traceEvents"].take() else {
            return Err("there are no events".into());
        };
        let timeline = Timeline { events, said };
        let count = |name: &str| timeline.calls(name).iter().sum::<usize>();
        if count("MPI_Sendrecv") != 10 || timeline.arrows("message")?.len() != 10 {
            return Err(format!(
                "{} calls and {} arrows, not 10",
                count("MPI_Sendrecv"),
                timeline.arrows("message")?.len()
            )
            .into());
        }
        let probes = count("MPI_Iprobe");
        let all_are_there = probes == 40_000;
        if all_are_there != (limit == "400m") {
            return Err(
                format!("{probes} slices of MPI_Iprobe with -timeline-limit {limit}").into(),
            );
        }
        if !all_are_there {
            let slices = timeline.of("X").filter(|it| calls_of(it) > 1.0);
            if slices.count() == 0 {
                return Err("no slice is of several calls".into());
            }
        }
    }
    let output = Command::new(&mpiexec)
        .args(["-timeline-limit", "much", "-n", "1", "true"])
        .output()?;
    has(
        &String::from_utf8_lossy(&output.stderr),
        "-timeline-limit: 'much' is no number of bytes above 0, such as 200m",
    )
}

/// How many calls a slice says that it is.
fn calls_of(slice: &Value) -> f64 {
    slice["args"]["calls"].as_f64().unwrap_or(1.0)
}
