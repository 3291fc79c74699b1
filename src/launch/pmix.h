/* What `make bindings` makes pmix_bindings.rs of; the headers are those of Debian's libpmix-dev 4.2.2. */
#include <pmix_common.h>
