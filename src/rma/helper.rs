use super::private::Pieces;
use super::window::Window;
use crate::error::{Class, Result, fail};

pub fn write(_window: &Window, _rank: usize, _remote: &Pieces, _data: &[u8]) -> Result<()> {
    fail!(Class::UnsupportedOperation, "no helper")
}

pub fn read(_window: &Window, _rank: usize, _remote: &Pieces, _out: &mut [u8]) -> Result<()> {
    fail!(Class::UnsupportedOperation, "no helper")
}
