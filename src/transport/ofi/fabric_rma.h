/* What `make bindings` makes rma_bindings.rs of, beside what is in bindings.rs. */
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
