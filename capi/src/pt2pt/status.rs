//! What a status says.

use crate::decode;
use crate::param::*;
use crate::pointers::*;

entry! {
    None fn MPI_Status_get_source(status: In<Status>, source: Out<Rank>) {
        source.set(Rank(status.read()?.0.source))
    }
}

entry! {
    None fn MPI_Status_get_tag(status: In<Status>, tag: Out<Tag>) {
        tag.set(Tag(status.read()?.0.tag))
    }
}

entry! {
    None fn MPI_Status_get_error(status: In<Status>, error: Out<ErrorCode>) {
        error.set(ErrorCode(status.read()?.0.error))
    }
}

entry! {
    None fn MPI_Status_set_source(status: InOut<Status>, source: Rank) {
        let mut words = status.read()?;
        words.0.source = source.0;
        status.set(words)
    }
}

entry! {
    None fn MPI_Status_set_tag(status: InOut<Status>, tag: Tag) {
        let mut words = status.read()?;
        words.0.tag = tag.0;
        status.set(words)
    }
}

entry! {
    None fn MPI_Status_set_error(status: InOut<Status>, error: ErrorCode) {
        let mut words = status.read()?;
        words.0.error = error.0;
        status.set(words)
    }
}

entry! {
    None fn MPI_Test_cancelled(status: In<Status>, flag: Out<Logical>) {
        flag.put_bool(status.read()?.0.cancelled())
    }
}

entry! {
    AccessOnly fn MPI_Get_count[_c](status: In<Status>, datatype: Datatype, count: Out<Count>) {
        let datatype = decode::datatype(datatype)?;
        let words = status.read()?.0;
        count.put_or_undefined(words.get_count(datatype))
    }
}
