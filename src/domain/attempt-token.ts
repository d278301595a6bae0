import { newToken } from "#domain/secrets";

interface Row {
  id: number;
  uid: string;
}

/**
 * A token of an agent's attempt at a build or a testdrive. It names the agent and the row, so that the doors refuse it from
 * another agent and find the object without a query; the object compares the whole token.
 */
export const newAttemptToken = (agentId: number, { id, uid }: Row): string => `${agentId}.${id}.${uid}.${newToken()}`;

/** The row of an agent's call about this id, as its token says. Undefined: the token belongs to another agent or row. */
export function rowOfToken(token: string, { agentId, id }: { agentId: number; id: number }): Row | undefined {
  const parts = token.split(".");
  // A token from before rows had uids: its object has the id for a name.
  if (parts.length === 1) return { id, uid: String(id) };
  const [ofAgent, ofId, uid = ""] = parts;
  return Number(ofAgent) === agentId && Number(ofId) === id && isUid.test(uid) ? { id, uid } : undefined;
}

const isUid = /^[\w-]{1,36}$/;
