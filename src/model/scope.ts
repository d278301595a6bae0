/** The scopes of tokens. Each includes the ones before it. */
export const scopes = ["read", "build", "publish"] as const;
export type Scope = (typeof scopes)[number];
