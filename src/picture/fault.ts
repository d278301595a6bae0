/** The bytes are not a usable picture. The message completes a sentence that begins with "The picture". */
export class PictureFault extends Error {
  override readonly name = "PictureFault";
}
