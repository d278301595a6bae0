import { env } from "cloudflare:workers";

/** Gives all base systems a fact, for example one that the catalogue of Tiny Linux does not have. */
export const setBaseSystemFact = async (name: string, value: unknown): Promise<void> => {
  await env.DB.prepare("UPDATE base_systems SET facts = json_set(facts, ?, json(?))")
    .bind(`$.${name}`, JSON.stringify(value))
    .run();
};

export const removeBaseSystemFact = async (name: string): Promise<void> => {
  await env.DB.prepare("UPDATE base_systems SET facts = json_remove(facts, ?)").bind(`$.${name}`).run();
};
