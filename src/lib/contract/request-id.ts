import { z } from "zod";

/** The header that carries the id of a request: the Worker's, and the agent's calls about work that the request started. */
export const requestIdHeader = "x-request-id";

/** The request that started the work. Every line of a log about it has this id. */
export const RequestId = z.string().regex(/^[A-Za-z0-9._-]{1,64}$/);
