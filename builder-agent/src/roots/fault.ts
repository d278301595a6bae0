/** Why there is no such builder root: a sentence for the operator. */
export class RootFault extends Error {
  override readonly name = "RootFault";
}
