//! Categories of variables and events.

use super::{offer, offer_indices, offer_text};
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::tool::{self, category};

entry! {
    /// They never change.
    ReadList fn MPI_T_category_changed(update_number: Out<Int>) {
        tool::check()?;
        update_number.set(Int(0))
    }
}

entry! {
    ReadList fn MPI_T_category_get_num(num_cat: Out<Int>) {
        tool::check()?;
        num_cat.set(Int(category::all().len() as i32))
    }
}

entry! {
    ReadList fn MPI_T_category_get_index(name: Text, cat_index: Out<Int>) {
        tool::check()?;
        cat_index.not_null()?;
        cat_index.set(Int(category::index_of(&decode::text("name", name)?)? as i32))
    }
}

entry! {
    ReadList fn MPI_T_category_get_info(
        cat_index: Int, name: TextOut, name_len: InOut<Int>, desc: TextOut, desc_len: InOut<Int>,
        num_cvars: Out<Int>, num_pvars: Out<Int>, num_categories: Out<Int>,
    ) {
        tool::check()?;
        let category = category::category(cat_index.0)?;
        offer_text(name, name_len, category.name)?;
        offer_text(desc, desc_len, category.text)?;
        offer(num_cvars, Int(category.controls.len() as i32))?;
        offer(num_pvars, Int(category.performance.len() as i32))?;
        offer(num_categories, Int(0))
    }
}

entry! {
    ReadList fn MPI_T_category_get_cvars(cat_index: Int, len: Int, indices: OutArray<Int>) {
        tool::check()?;
        offer_indices(indices, len, &category::category(cat_index.0)?.controls)
    }
}

entry! {
    ReadList fn MPI_T_category_get_pvars(cat_index: Int, len: Int, indices: OutArray<Int>) {
        tool::check()?;
        offer_indices(indices, len, &category::category(cat_index.0)?.performance)
    }
}

entry! {
    /// No category is within another.
    ReadList fn MPI_T_category_get_categories(cat_index: Int, len: Int, indices: OutArray<Int>) {
        tool::check()?;
        category::category(cat_index.0)?;
        offer_indices(indices, len, &[])
    }
}

entry! {
    ReadList fn MPI_T_category_get_num_events(cat_index: Int, num_events: Out<Int>) {
        tool::check()?;
        num_events.not_null()?;
        num_events.set(Int(category::category(cat_index.0)?.events.len() as i32))
    }
}

entry! {
    ReadList fn MPI_T_category_get_events(cat_index: Int, len: Int, indices: OutArray<Int>) {
        tool::check()?;
        offer_indices(indices, len, &category::category(cat_index.0)?.events)
    }
}
