/** A file that is being uploaded. */
export interface IncomingFile {
  body: ReadableStream<Uint8Array>;
  /** The client's name for it. */
  fileName: string | undefined;
  /** About its length; absent or 0: unknown. */
  expectedBytes?: number | undefined;
}
