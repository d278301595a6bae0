import { signedEnvelope } from "./dsse.ts";
import { statementType } from "./envelope.ts";
import type { SigningKey } from "./signing-key.ts";

/** An in-toto statement in a signed envelope, on one line. */
export const signedStatement = (statement: object, key: SigningKey): Promise<string> =>
  signedEnvelope(statementType, new TextEncoder().encode(JSON.stringify(statement)), key);
