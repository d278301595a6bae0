import { keyedHash, newToken, sameSecret } from "#domain/secrets";
import type { Agent } from "#storage/agents";

interface Row {
  id: number;
  uid: string;
}

/**
 * Creates a token for an agent's attempt at a build or a testdrive. It names the agent and the row, so that the agent
 * API can refuse it from another agent and find the object without a query. The object compares the whole token.
 */
export const newAttemptToken = (agentId: number, { id, uid }: Row): string => `${agentId}.${id}.${uid}.${newToken()}`;

/** The row that a call's token names. Undefined if the token belongs to another agent or another id. */
export function rowOfToken(token: string, { agentId, id }: { agentId: number; id: number }): Row | undefined {
  const parts = token.split(".");
  // A token from before rows had uids: its object's name is the id.
  if (parts.length === 1) return { id, uid: String(id) };
  const [ofAgent, ofId, uid = ""] = parts;
  return Number(ofAgent) === agentId && Number(ofId) === id && isUid.test(uid) ? { id, uid } : undefined;
}

/**
 * The token as the agent receives it, with a proof that it was given to the holder of this agent's own token. So a call
 * about claimed work needs no query. The object knows whether the attempt is still valid, because it is notified when
 * the agent is removed.
 */
export const boundTo = ({ tokenHmac }: Pick<Agent, "tokenHmac">, pepper: string, token: string): string =>
  `${token}.${proofOf(token, tokenHmac, pepper)}`;

/**
 * The agent that both tokens of a call belong to. Undefined if they do not belong together, or if an older version
 * issued the attempt's token.
 */
export function agentOfBound(sent: string, agentToken: string, pepper: string): { id: number } | undefined {
  const { token, proof } = split(sent);
  if (proof === undefined || !sameSecret(proof, proofOf(token, keyedHash(pepper, agentToken), pepper)))
    return undefined;
  return { id: Number(token.split(".")[0]) };
}

/** The token without the proof, as the object compares it. */
export const unbound = (sent: string): string => split(sent).token;

function split(sent: string): { token: string; proof?: string } {
  const parts = sent.split(".");
  const [proof] = parts.slice(4);
  return proof === undefined || parts.length > 5 ? { token: sent } : { token: parts.slice(0, 4).join("."), proof };
}

const proofOf = (token: string, tokenHmac: string, pepper: string): string =>
  keyedHash(pepper, `${token} ${tokenHmac}`);

const isUid = /^[\w-]{1,36}$/;
