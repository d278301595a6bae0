import { newToken } from "#domain/secrets";

/** Names its agent, so that the door can refuse it from any other one before it asks the build's object. */
export const newAttemptToken = (agentId: number): string => `${agentId}.${newToken()}`;

export const isTokenOf = (agentId: number, token: string): boolean => token.startsWith(`${agentId}.`);
