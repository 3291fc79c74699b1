//! `mpiexec -timeline FILE`: the memory that ranks write their calls to, the thread that empties it, and what is made of it at the end
//! (docs/timeline.md).
//!
//! Invariant: what goes wrong here costs the timeline, never the job; only a FILE that cannot be written is refused before the start.

mod clock;
mod json;
mod matching;
mod part;
mod profile;
mod summary;

use super::complain;
use super::plan::Plan;
use clock::Clock;
use oxmpi::events::timeline::layout::{
    COUNTER_AT, HEAD_WORDS, LANES, MAGIC, MAGIC_AT, NAME_BYTES, NAMES_AT, RANK_BYTES, Record,
    SLOTS, WORDS, head, name, slot,
};
use oxmpi::os::{memory, ticks_are_steady};
use oxmpi::sync::{AtomicU32, Ordering};
use part::{Part, Piece};
use rustix::fs::fstat;
use rustix::io::{FdFlags, fcntl_setfd};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often lanes are emptied: at a million records a second one is full after 13 of these.
const PERIOD: Duration = Duration::from_millis(10);
/// What a host writes at most, bytes, unless `-timeline-limit` says it: ten million records, whose JSON is four times as much.
const LIMIT: u64 = 400 << 20;

/// What the ranks of this process are told: descriptor and inode.
static TOLD: OnceLock<String> = OnceLock::new();

/// The value of the ranks' variable, if there is a timeline.
pub fn told_to_ranks() -> Option<&'static str> {
    TOLD.get().map(String::as_str)
}

/// The file of a job that a rank of this one spawns, the next one of them.
pub fn of_spawned(file: Option<&String>) -> Option<String> {
    static SPAWNED: AtomicU32 = AtomicU32::new(0);
    let path = Path::new(file?);
    let number = SPAWNED.fetch_add(1, Ordering::Relaxed) + 1;
    let name = path.file_name()?.to_str()?;
    let (stem, rest) = name.split_once('.').unwrap_or((name, ""));
    let dot = if rest.is_empty() { "" } else { "." };
    let name = format!("{stem}-spawned-{number}{dot}{rest}");
    Some(path.with_file_name(name).to_string_lossy().into_owned())
}

/// The memory of the ranks of this host, and where what they write goes.
pub struct Recorder {
    file: PathBuf,
    memory: File,
    /// By seat.
    ranks: Vec<u32>,
    part: Part,
    place: u32,
    /// Bytes.
    limit: u64,
    records: Vec<Record>,
}

/// The thread that empties the lanes.
pub struct Recording {
    stop: mpsc::Sender<()>,
    thread: JoinHandle<io::Result<Part>>,
    file: PathBuf,
    place: u32,
}

/// Begins, if the user wants a timeline. The root's text is why the job cannot be started; elsewhere there is none then.
pub fn begin(plan: &Plan) -> Result<Option<Recorder>, String> {
    let Some(file) = &plan.request.timeline else {
        return Ok(None);
    };
    if plan.singleton.is_some() {
        return Ok(None);
    }
    let refused = |error: io::Error| format!("-timeline: cannot write {file}: {error}");
    let path = std::path::absolute(file).map_err(refused)?;
    if plan.place == 0 {
        File::create(&path).map_err(refused)?;
    }
    let part = Part::create(&path, plan.place).map_err(refused)?;
    let ranks: Vec<u32> = plan.here().map(|rank| rank.number as u32).collect();
    let memory = memory_of(ranks.len())
        .map_err(|error| format!("-timeline: cannot make the memory for it: {error}"))?;
    Ok(Some(Recorder {
        file: path,
        memory,
        ranks,
        part,
        place: plan.place,
        limit: plan.request.timeline_limit.unwrap_or(LIMIT),
        records: Vec::new(),
    }))
}

fn memory_of(ranks: usize) -> io::Result<File> {
    let memory: OwnedFd = memory::create("oxmpi-timeline", RANK_BYTES * ranks as u64, true)?;
    fcntl_setfd(&memory, FdFlags::empty())?;
    let told = format!("{} {}", memory.as_raw_fd(), fstat(&memory)?.st_ino);
    let memory = File::from(memory);
    for seat in 0..ranks {
        let at = |word: usize| RANK_BYTES * seat as u64 + word as u64 * 8;
        memory.write_all_at(&MAGIC.to_ne_bytes(), at(MAGIC_AT))?;
        let counter = u64::from(ticks_are_steady());
        memory.write_all_at(&counter.to_ne_bytes(), at(COUNTER_AT))?;
    }
    TOLD.get_or_init(|| told);
    Ok(memory)
}

impl Recorder {
    /// Begins to empty the lanes, when all ranks are started.
    pub fn start(mut self) -> Option<Recording> {
        let (stop, stopped) = mpsc::channel();
        let (file, place) = (self.file.clone(), self.place);
        let empty = move || {
            self.part.put_clock(&Clock::read())?;
            let mut ended = false;
            while !ended {
                // Once more after the end.
                ended = stopped.recv_timeout(PERIOD) != Err(RecvTimeoutError::Timeout);
                for seat in 0..self.ranks.len() {
                    self.empty(seat)?;
                }
            }
            for seat in 0..self.ranks.len() {
                self.finish(seat)?;
            }
            self.part.put_clock(&Clock::read())?;
            self.part.finish()?;
            Ok(self.part)
        };
        let thread = thread::Builder::new().name("oxmpi-timeline".into());
        match thread.spawn(empty) {
            Ok(thread) => Some(Recording {
                stop,
                thread,
                file,
                place,
            }),
            Err(error) => {
                complain(&format!(
                    "no timeline is written: no thread for it: {error}"
                ));
                None
            }
        }
    }

    fn at(seat: usize, word: usize) -> u64 {
        RANK_BYTES * seat as u64 + word as u64 * 8
    }

    fn words<const COUNT: usize>(&self, seat: usize, word: usize) -> io::Result<[u64; COUNT]> {
        let mut bytes = [[0u8; 8]; COUNT];
        let at = Self::at(seat, word);
        self.memory.read_exact_at(bytes.as_flattened_mut(), at)?;
        Ok(bytes.map(u64::from_ne_bytes))
    }

    /// Moves what is in a rank's lanes to the file.
    fn empty(&mut self, seat: usize) -> io::Result<()> {
        let heads: [u64; HEAD_WORDS] = self.words(seat, 0)?;
        let mut bytes = Vec::new();
        for lane in 0..LANES {
            let head = head(lane);
            let (written, mut read) = (heads[head.written], heads[head.read]);
            while read < written {
                let to_end = SLOTS as u64 - read % SLOTS as u64;
                let count = (written - read).min(to_end);
                let size = count as usize * WORDS * 8;
                bytes.resize(size, 0);
                let at = Self::at(seat, slot(lane, read));
                self.memory.read_exact_at(&mut bytes, at)?;
                self.keep(self.ranks[seat], lane as u32, &mut bytes)?;
                read += count;
                let at = Self::at(seat, head.read);
                self.memory.write_all_at(&read.to_ne_bytes(), at)?;
            }
        }
        Ok(())
    }

    /// Writes records down. From half of the limit on, calls in a row that tell of no message become one; what is beyond the limit is counted.
    fn keep(&mut self, rank: u32, lane: u32, bytes: &mut Vec<u8>) -> io::Result<()> {
        let size = self.part.size();
        if size + bytes.len() as u64 > self.limit / 2 {
            self.records.clear();
            for words in bytes.as_chunks::<8>().0.as_chunks::<WORDS>().0 {
                let record = Record::of_words(words.map(u64::from_ne_bytes));
                let taken = self
                    .records
                    .last_mut()
                    .is_some_and(|last| last.takes(&record));
                if !taken {
                    self.records.push(record);
                }
            }
            bytes.clear();
            for record in &self.records {
                bytes.extend(record.words().map(u64::to_ne_bytes).as_flattened());
            }
        }
        // What fits of them, whole records.
        let record = WORDS * 8;
        let room = self.limit.saturating_sub(size) as usize / record * record;
        let lost = bytes.split_off(room.min(bytes.len()));
        if !bytes.is_empty() {
            self.part.put(Piece::Records, rank, lane, bytes)?;
        }
        if lost.is_empty() {
            return Ok(());
        }
        let calls = lost.as_chunks::<8>().0.as_chunks::<WORDS>().0.iter();
        let calls = calls.map(|words| Record::of_words(words.map(u64::from_ne_bytes)).calls());
        let lost: u64 = calls.sum();
        self.part
            .put(Piece::Dropped, rank, lane, &lost.to_le_bytes())
    }

    /// Writes down what is not in the lanes: names, and how many records were dropped.
    fn finish(&mut self, seat: usize) -> io::Result<()> {
        let rank = self.ranks[seat];
        let heads: [u64; HEAD_WORDS] = self.words(seat, 0)?;
        for lane in 0..LANES {
            let dropped = heads[head(lane).dropped];
            if dropped > 0 {
                self.part
                    .put(Piece::Dropped, rank, lane as u32, &dropped.to_le_bytes())?;
            }
        }
        let mut names = vec![0; heads[NAMES_AT] as usize * NAME_BYTES];
        self.memory
            .read_exact_at(&mut names, Self::at(seat, name(0)))?;
        self.part.put(Piece::Names, rank, 0, &names)
    }
}

impl Recording {
    /// All ranks have ended: makes the file. Returns what there is to say.
    pub fn finish(self, plan: &Plan) -> String {
        drop(self.stop);
        let part = match self.thread.join() {
            Ok(Ok(part)) => part,
            Ok(Err(error)) => return format!("no timeline is written: {error}\n"),
            Err(_) => return "no timeline is written: its thread has failed\n".to_owned(),
        };
        if self.place > 0 {
            return String::new();
        }
        let mut parts = vec![part];
        let mut text = String::new();
        for (index, host) in plan.further_hosts.iter().enumerate() {
            match Part::open(&self.file, index as u32 + 1) {
                Ok(part) => parts.push(part),
                Err(error) => {
                    text += &format!(
                        "the timeline of host {host} is missing: its mpiexec has left none in the folder of {}, \
                     which hosts must share ({error})\n",
                        self.file.display()
                    )
                }
            }
        }
        match write(&self.file, &mut parts, plan.size) {
            Ok(summary) => text + &summary,
            Err(error) => {
                format!("{text}cannot write {}: {error}\n", self.file.display())
            }
        }
    }
}

/// Makes the file of the parts; the summary.
fn write(file: &Path, parts: &mut [Part], ranks: usize) -> io::Result<String> {
    let known = matching::Known::of(parts, ranks)?;
    let out = BufWriter::with_capacity(1 << 18, File::create(file)?);
    if file.extension().is_some_and(|extension| extension == "gz") {
        let mut out = flate2::write::GzEncoder::new(out, flate2::Compression::fast());
        json::write(&mut out, parts, &known)?;
        out.finish()?.flush()?;
    } else {
        let mut out = out;
        json::write(&mut out, parts, &known)?;
        out.flush()?;
    }
    Ok(summary::summary(&known, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spawned_jobs_have_files_of_their_own() {
        let file = |text: &str| of_spawned(Some(&text.to_owned()));
        let first = file("a/out.json.gz").unwrap();
        assert!(first.starts_with("a/out-spawned-") && first.ends_with(".json.gz"));
        assert_ne!(file("a/out.json.gz").unwrap(), first);
        assert!(file("out").unwrap().starts_with("out-spawned-"));
        assert_eq!(of_spawned(None), None);
    }
}
