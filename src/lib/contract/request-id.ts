import { z } from "zod";

/** The header with a request's id: in the Worker's answers, and in the agent's calls about work that it started. */
export const requestIdHeader = "x-request-id";

/** The request that started the work. Every line of a log about it has this id. */
export const RequestId = z.string().regex(/^[A-Za-z0-9._-]{1,64}$/);
