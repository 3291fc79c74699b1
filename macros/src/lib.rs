//! `#[both]`: one body of the steps of an operation, for calls that block and for tasks.

use proc_macro::{Group, Ident, TokenStream, TokenTree};
use std::iter::Peekable;

/// Writes an `impl` of asynchronous functions twice: as it stands, with `false` for `BLOCK`, and without `async` and `.await`, with `true` for
/// `BLOCK`. The second one is for calls that block: their futures would be ready at the first poll, but the compiler keeps their state in
/// memory (docs/collectives.md has the cost).
#[proc_macro_attribute]
pub fn both(_: TokenStream, item: TokenStream) -> TokenStream {
    let mut all = written(item.clone(), true);
    all.extend(written(item, false));
    all
}

fn written(tokens: TokenStream, block: bool) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut out = Vec::new();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), written(group.stream(), block));
                inner.set_span(group.span());
                out.push(TokenTree::Group(inner));
            }
            TokenTree::Ident(name) if name.to_string() == "BLOCK" => {
                let value = if block { "true" } else { "false" };
                out.push(TokenTree::Ident(Ident::new(value, name.span())));
            }
            TokenTree::Ident(name) if block && name.to_string() == "async" => {}
            TokenTree::Punct(dot) if block && dot.as_char() == '.' && awaits(&mut tokens) => {
                tokens.next();
            }
            token => out.push(token),
        }
    }
    out.into_iter().collect()
}

/// Whether what follows is `await`.
fn awaits(tokens: &mut Peekable<impl Iterator<Item = TokenTree>>) -> bool {
    matches!(tokens.peek(), Some(TokenTree::Ident(name)) if name.to_string() == "await")
}
