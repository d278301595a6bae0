/** Why an agent's call is refused. `late`: another attempt has the work, or it is over; stop, and answer nothing more. */
const table = {
  unauthorized: [401, "This is no agent's token."],
  invalid: [400, "The request is not what the contract says."],
  wrong_part: [400, "The part's number or size does not fit the file: all but the last have 16 MiB."],
  wrong_digest: [400, "The SHA-256 is another one than announced; nothing was recorded."],
  no_image: [404, "There is no image of this build."],
  no_content: [404, "The build was not frozen with such a content."],
  no_prepared_root: [404, "No such root of this appliance was given away, or it was too long ago."],
  no_package: [404, "The build was not frozen with such a package."],
  no_upload: [409, "Open the upload first; a complete one takes no more parts."],
  incomplete: [409, "An artifact is not complete."],
  late: [410, "This attempt is over."],
  too_large: [413, "The body is too large for this call."],
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

/** The answer of an object, or its refusal: objects refuse by value, since RPC loses the class of an error. */
export function accepted<T extends object>(answer: T): Exclude<T, { refused: string }> {
  if (isRefused(answer)) throw new AgentRefusal(codeOf(answer.refused));
  return answer as Exclude<T, { refused: string }>;
}

const isRefused = (answer: object): answer is { refused: string } => "refused" in answer;

const codeOf = (refused: string): AgentRefusalCode => (isCode(refused) ? refused : "late");

const isCode = (word: string): word is AgentRefusalCode => word in table;
