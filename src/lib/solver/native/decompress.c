/* xz and bzip2, decoding only. The host fills the input buffer, takes output until there is none, and fills it again. */
#include "kiln.h"

#include <stdlib.h>
#include <string.h>

#include <bzlib.h>
#include <lzma.h>

#define INPUT_BYTES (64 << 10)
#define OUTPUT_BYTES (256 << 10)

enum { DAMAGED = -1, NEEDS_TOO_MUCH_MEMORY = -2, TRUNCATED = -3 };

typedef struct {
  int is_xz;
  int between_streams; /* bzip2: a file may contain several streams, one after the other (pbzip2) */
  lzma_stream xz;
  bz_stream bzip2;
  char input[INPUT_BYTES], output[OUTPUT_BYTES];
} Decoder;

/* libbz2 calls this on an internal error. */
void bz_internal_error(int code) {
  (void)code;
  abort();
}

/* `memory` bounds the dictionary of xz, in bytes; bzip2 never takes more than 4 MiB. */
Decoder *EXPORT(kiln_decoder)(int is_xz, unsigned memory) {
  Decoder *decoder = calloc(1, sizeof *decoder);
  int failed;

  if (!decoder)
    return 0;
  decoder->is_xz = is_xz;
  failed = is_xz ? lzma_stream_decoder(&decoder->xz, memory, LZMA_CONCATENATED) != LZMA_OK
                 : BZ2_bzDecompressInit(&decoder->bzip2, 0, 0) != BZ_OK;
  if (!failed)
    return decoder;
  free(decoder);
  return 0;
}

void EXPORT(kiln_decoder_free)(Decoder *decoder) {
  if (decoder->is_xz)
    lzma_end(&decoder->xz);
  else
    BZ2_bzDecompressEnd(&decoder->bzip2);
  free(decoder);
}

char *EXPORT(kiln_decoder_input)(Decoder *decoder) { return decoder->input; }

char *EXPORT(kiln_decoder_output)(Decoder *decoder) { return decoder->output; }

int EXPORT(kiln_decoder_input_bytes)(void) { return INPUT_BYTES; }

/* Says that the input buffer contains `bytes` of new input. */
void EXPORT(kiln_decoder_fill)(Decoder *decoder, int bytes) {
  decoder->xz.next_in = (const uint8_t *)decoder->input;
  decoder->xz.avail_in = (size_t)bytes;
  decoder->bzip2.next_in = decoder->input;
  decoder->bzip2.avail_in = (unsigned)bytes;
}

static int decode_xz(Decoder *decoder, int is_last) {
  lzma_stream *xz = &decoder->xz;
  lzma_ret result;

  xz->next_out = (uint8_t *)decoder->output;
  xz->avail_out = OUTPUT_BYTES;
  /* liblzma reports only on the second call that it cannot continue. */
  do
    result = lzma_code(xz, is_last ? LZMA_FINISH : LZMA_RUN);
  while (is_last && result == LZMA_OK && xz->avail_out == OUTPUT_BYTES);
  if (result == LZMA_MEMLIMIT_ERROR || result == LZMA_MEM_ERROR)
    return NEEDS_TOO_MUCH_MEMORY;
  if (result == LZMA_BUF_ERROR)
    return is_last && xz->avail_out ? TRUNCATED : 0;
  if (result != LZMA_OK && result != LZMA_STREAM_END)
    return DAMAGED;
  return OUTPUT_BYTES - (int)xz->avail_out;
}

static int begin_next_stream(Decoder *decoder) {
  bz_stream *bzip2 = &decoder->bzip2, rest = *bzip2;

  BZ2_bzDecompressEnd(bzip2);
  memset(bzip2, 0, sizeof *bzip2);
  if (BZ2_bzDecompressInit(bzip2, 0, 0) != BZ_OK)
    return NEEDS_TOO_MUCH_MEMORY;
  bzip2->next_in = rest.next_in;
  bzip2->avail_in = rest.avail_in;
  bzip2->next_out = rest.next_out;
  bzip2->avail_out = rest.avail_out;
  decoder->between_streams = 1;
  return 0;
}

static int decode_bzip2(Decoder *decoder, int is_last) {
  bz_stream *bzip2 = &decoder->bzip2;

  bzip2->next_out = decoder->output;
  bzip2->avail_out = OUTPUT_BYTES;
  while (bzip2->avail_in && bzip2->avail_out) {
    int result;
    decoder->between_streams = 0;
    result = BZ2_bzDecompress(bzip2);
    if (result == BZ_STREAM_END)
      result = begin_next_stream(decoder);
    if (result == BZ_MEM_ERROR)
      return NEEDS_TOO_MUCH_MEMORY;
    if (result < 0)
      return DAMAGED;
  }
  /* The last block may still have output after all input is consumed. */
  if (!decoder->between_streams && bzip2->avail_out) {
    int result = BZ2_bzDecompress(bzip2);
    if (result == BZ_STREAM_END)
      result = begin_next_stream(decoder);
    if (result < 0)
      return DAMAGED;
  }
  if (is_last && !decoder->between_streams && bzip2->avail_out == OUTPUT_BYTES)
    return TRUNCATED;
  return OUTPUT_BYTES - (int)bzip2->avail_out;
}

/* Returns the number of bytes in the output buffer, 0 if it needs more input (or has returned all), or an error. */
int EXPORT(kiln_decode)(Decoder *decoder, int is_last) {
  return decoder->is_xz ? decode_xz(decoder, is_last) : decode_bzip2(decoder, is_last);
}
