use super::*;

fn place(function: &str, file: &str, line: u32, module: &str, offset: u64) -> Place {
    Place {
        function: function.to_owned(),
        file: file.to_owned(),
        line,
        module: module.to_owned(),
        offset,
    }
}

#[test]
fn as_much_is_said_as_is_known() {
    for (place, text) in [
        (
            place("exchange", "/src/halo.c", 88, "/bin/a", 0),
            "halo.c:88 in exchange",
        ),
        (
            place("exchange", "halo.c", 0, "/bin/a", 0),
            "exchange of halo.c",
        ),
        (place("", "halo.c", 3, "/bin/a", 0), "halo.c:3"),
        (
            place("exchange", "", 0, "/lib/liba.so", 28),
            "exchange+0x1c in liba.so",
        ),
        (place("", "", 0, "/lib/liba.so", 28), "liba.so+0x1c"),
        (place("", "", 0, "", 28), "0x1c"),
    ] {
        assert_eq!(place.to_string(), text);
    }
}

#[test]
fn wrappers_are_passed_over() {
    let stack = [
        vec![place("mpi_recv_", "", 0, "/x/libmpifort.so.12", 5)],
        vec![place("MPI_Recv", "tool.c", 5, "/x/libtool.so", 0)],
        vec![
            place("MPI::Comm::Recv", "mpicxx.h", 7, "/x/a", 0),
            place("mpi_halo", "h.c", 9, "/x/a", 0),
        ],
        vec![place("main", "h.c", 19, "/x/a", 0)],
    ];
    assert_eq!(of_program(&stack).unwrap().function, "mpi_halo");
    assert_eq!(of_program(&stack[..2]), None);
}

fn answers(wanted: &[(i32, Vec<u64>)]) -> Vec<Answer> {
    let mut all = Vec::new();
    answer_all(wanted, &mut |answer| {
        all.push(answer);
        Ok(())
    })
    .unwrap();
    all
}

#[inline(never)]
fn marked() -> u32 {
    std::hint::black_box(line!())
}

#[test]
fn a_function_of_this_test_has_its_line() {
    let own = std::process::id() as i32;
    let line = marked();
    let address = marked as *const () as u64;
    let all = answers(&[(own, vec![8, address])]);
    let [bare, named] = all.as_slice() else {
        panic!("{} answers", all.len());
    };
    assert_eq!((bare.process, bare.address, named.address), (0, 1, 1));
    assert!(
        bare.places[0].to_string().contains("+0x"),
        "{}",
        bare.places[0]
    );
    let place = &named.places[0];
    assert!(place.function.ends_with("::marked"), "{place:?}");
    assert_eq!(last_part(&place.file), "tests.rs");
    assert!((line - 2..=line).contains(&place.line), "{place:?}");
}

#[test]
fn only_the_innermost_place_of_the_program_is_named() {
    let own = std::process::id() as i32;
    let [inner, outer] = [marked as *const () as u64, answers as *const () as u64];
    let all = answers(&[(own, vec![inner, outer]), (own, vec![outer])]);
    let of = |answer: &Answer| (answer.process, answer.address);
    let asked = [(0, 0), (0, 1), (1, 0)];
    assert_eq!(all[..3].iter().map(of).collect::<Vec<_>>(), asked);
    let named = [(0, 0), (1, 0)];
    assert_eq!(all[3..].iter().map(of).collect::<Vec<_>>(), named);
}

#[test]
fn a_process_that_is_gone_has_no_places() {
    assert!(answers(&[(-1, vec![1, 2])]).is_empty());
}
