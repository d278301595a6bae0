/* What expat's configure would find for wasm32-wasi. There is no source of randomness;
 * XML_POOR_ENTROPY accepts that. */
#define BYTEORDER 1234
#define HAVE_MEMMOVE 1
#define XML_CONTEXT_BYTES 1024
#define XML_DTD 1
#define XML_NS 1
#define XML_POOR_ENTROPY 1
