//! Hints of files: the names that programs and other libraries use are told with what this library does; all that is given is kept.

use crate::error::Result;
use crate::info::Info;

pub const PERMISSIONS: &str = "file_perm";
const VISIBILITY: &str = "romio_visibility_immediate";

/// Told of every file.
const KNOWN: [(&str, &str); 11] = [
    ("cb_buffer_size", "1048576"),
    ("cb_nodes", "1"),
    ("ind_rd_buffer_size", "524288"),
    ("ind_wr_buffer_size", "262144"),
    ("romio_cb_read", "automatic"),
    ("romio_cb_write", "automatic"),
    ("romio_ds_read", "automatic"),
    ("romio_ds_write", "disable"),
    ("romio_no_indep_rw", "false"),
    ("romio_filesystem_type", "UFS: generic"),
    // What one rank has written the others see at once; on other hosts after MPI_File_sync.
    (VISIBILITY, "true"),
];
/// Those that the library decides alone.
const FIXED: [&str; 3] = ["romio_ds_write", "romio_filesystem_type", VISIBILITY];

/// The hints of a file opened with these, on one node or several.
pub fn of(given: &Info, spans_nodes: bool) -> Result<Info> {
    let mut used = Info::new();
    for (key, value) in KNOWN {
        used.set(key, value)?;
    }
    if spans_nodes {
        used.set(VISIBILITY, "false")?;
    }
    change(&mut used, given)?;
    Ok(used)
}

/// MPI_File_set_info. What is no sensible value of a known key is passed over.
pub fn change(used: &mut Info, given: &Info) -> Result<()> {
    for (key, value) in given.entries() {
        let is_number = |text: &str| text.parse::<u64>().is_ok_and(|number| number > 0);
        let is_wrong = match key {
            "cb_buffer_size" | "cb_nodes" | "ind_rd_buffer_size" | "ind_wr_buffer_size"
            | "striping_unit" | "striping_factor" | "num_io_nodes" | "nb_proc" => !is_number(value),
            "romio_cb_read" | "romio_cb_write" | "romio_ds_read" => {
                !matches!(value, "enable" | "disable" | "automatic")
            }
            "romio_no_indep_rw" | "collective_buffering" => !matches!(value, "true" | "false"),
            PERMISSIONS => permissions(value).is_none(),
            key => FIXED.contains(&key),
        };
        if !is_wrong {
            used.set(key, value)?;
        }
    }
    Ok(())
}

/// Permissions of a new file as `file_perm` says them: in octal.
fn permissions(text: &str) -> Option<u32> {
    let bits = u32::from_str_radix(text.trim(), 8).ok()?;
    (bits <= 0o777).then_some(bits)
}

/// Permissions of a new file, before the umask.
pub fn permissions_of(hints: &Info) -> u32 {
    let given = hints.get(PERMISSIONS).ok().flatten();
    given.and_then(permissions).unwrap_or(0o666)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_kept_if_they_make_sense() {
        let mut given = Info::new();
        for (key, value) in [
            ("cb_nodes", "-3"),
            ("cb_buffer_size", "65536"),
            ("file_perm", "0640"),
            ("romio_ds_write", "enable"),
            ("unheard_of", "x"),
        ] {
            given.set(key, value).unwrap();
        }
        let used = of(&given, false).unwrap();
        for (key, value) in [
            ("cb_nodes", "1"),
            ("cb_buffer_size", "65536"),
            ("file_perm", "0640"),
            ("romio_ds_write", "disable"),
            ("unheard_of", "x"),
        ] {
            assert_eq!(used.get(key).unwrap(), Some(value), "{key}");
        }
        let apart = of(&given, true).unwrap();
        assert_eq!(apart.get(VISIBILITY).unwrap(), Some("false"));
        assert_eq!(permissions_of(&used), 0o640);
        assert_eq!(permissions("0999"), None);
    }
}
