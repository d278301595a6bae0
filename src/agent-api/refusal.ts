/**
 * Reasons to refuse an agent's call. `late`: another attempt has the work, or the work has ended. The agent must stop
 * and send nothing more.
 */
const table = {
  unauthorized: [401, "Invalid agent token."],
  invalid: [400, "The request does not match the contract."],
  too_old: [400, "This agent is more than one version older than the service. Update it: kiln-agent update."],
  wrong_part: [400, "The part's number or size does not match the file: every part but the last has 16 MiB."],
  wrong_digest: [400, "The part does not have the SHA-256 of the header. It was not recorded."],
  no_image: [404, "The build has no image."],
  no_content: [404, "This content does not belong to the build."],
  no_prepared_root: [404, "No build of this appliance has shared this root, or it has expired."],
  no_delta: [404, "The appliance has no earlier image of this type with a delta."],
  no_package: [404, "This package does not belong to the build."],
  no_upload: [409, "Open the upload first. A completed upload accepts no more parts."],
  incomplete: [409, "An artifact is not complete."],
  late: [410, "This attempt is over."],
  too_large: [413, "The body is too large for this call."],
  disk_full: [507, "The disk of the service is full. Try again later."],
} as const;

export type AgentRefusalCode = keyof typeof table;

export class AgentRefusal extends Error {
  readonly code: AgentRefusalCode;
  readonly status: (typeof table)[AgentRefusalCode][0];

  constructor(code: AgentRefusalCode, message?: string) {
    super(message ?? table[code][1]);
    this.name = "AgentRefusal";
    this.code = code;
    this.status = table[code][0];
  }
}

/**
 * Returns an object's answer, or throws its refusal. Objects return refusals as values, because RPC loses the class of
 * an error.
 */
export function accepted<T extends object>(answer: T): Exclude<T, { refused: string }> {
  if (isRefused(answer)) throw new AgentRefusal(codeOf(answer.refused));
  return answer as Exclude<T, { refused: string }>;
}

const isRefused = (answer: object): answer is { refused: string } => "refused" in answer;

const codeOf = (refused: string): AgentRefusalCode => (isCode(refused) ? refused : "late");

const isCode = (word: string): word is AgentRefusalCode => word in table;
