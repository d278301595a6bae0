/** The bytes are no picture that we can show; the message is the end of a sentence that begins with "The picture". */
export class PictureFault extends Error {
  override readonly name = "PictureFault";
}
