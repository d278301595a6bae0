/** A file that is being uploaded. */
export interface IncomingFile {
  body: ReadableStream<Uint8Array>;
  /** The file's name on the client. */
  fileName: string | undefined;
  /** The approximate length. Absent or 0 if it is unknown. */
  expectedBytes?: number | undefined;
}
