import type { Comment } from "#storage/gallery-opinions";
import { ActionButton, Button } from "../../parts/button.tsx";
import { TextArea } from "../../parts/field.tsx";
import { Form, Hidden } from "../../parts/form.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Badge } from "../../parts/state.tsx";
import { signInTo } from "../../session.ts";
import type { Published } from "./published.ts";
import { galleryAt } from "./card.tsx";

/** Replies are indented up to this depth, so that deeper ones still fit on a phone. */
const deepest = 3;

/** The comments on a published appliance, and the form for a new one. */
export const Comments = ({ published }: { published: Published }) => {
  const { comments, person, publication } = published;
  const replies = Map.groupBy(comments, ({ parentId }) => parentId);
  const at = galleryAt(publication.applianceId);
  return (
    <section aria-labelledby="comments-heading" class="stack" id="comments">
      <h2 id="comments-heading">
        Comments <span class="count">{comments.length}</span>
      </h2>
      <ul class="comments">
        <Thread of={replies.get(null) ?? []} all={{ published, replies }} depth={0} />
      </ul>
      {person ? (
        <Form action={`${at}/comments`} id="comment" class="panel stack" once>
          <TextArea name="text" label="Write a comment" hint="Plain text. Everyone can read it." required />
          <Button icon="message-square">Send</Button>
        </Form>
      ) : (
        <p class="small-text">
          <a href={signInTo(`${at}#comments`)}>Sign in</a> to write a comment.
        </p>
      )}
    </section>
  );
};

interface All {
  published: Published;
  replies: ReadonlyMap<number | null, readonly Comment[]>;
}

const Thread = ({ of: comments, all, depth }: { of: readonly Comment[]; all: All; depth: number }) => (
  <>
    {comments.map((comment) => {
      const answers = all.replies.get(comment.id) ?? [];
      return (
        <>
          <li id={`comment-${comment.id}`}>
            <Said comment={comment} published={all.published} />
            {depth < deepest && answers.length > 0 && (
              <ul>
                <Thread of={answers} all={all} depth={depth + 1} />
              </ul>
            )}
          </li>
          {depth >= deepest && <Thread of={answers} all={all} depth={depth} />}
        </>
      );
    })}
  </>
);

const Said = ({ comment, published: { publication, person } }: { comment: Comment; published: Published }) => {
  const { id, displayName, accountId, createdAt, text } = comment;
  const at = `${galleryAt(publication.applianceId)}/comments`;
  const mayRemove = person && [publication.accountId, accountId].includes(person.account.id);
  return (
    <>
      <div class="said">
        <b>{displayName}</b>
        {accountId === publication.accountId && <Badge>publisher</Badge>}
        <span class="sub">
          <Moment at={createdAt} />
        </span>
        {mayRemove && (
          <ActionButton action={`${at}/${id}/remove`} look="small plain" about={`of ${displayName}`}>
            Remove
          </ActionButton>
        )}
      </div>
      <p class="breaks">{text}</p>
      {person && (
        <details>
          <summary>
            Reply<span class="hidden"> to {displayName}</span>
          </summary>
          <Form action={at} id={`reply-${id}`} class="stack" once>
            <Hidden fields={{ parent: id }} />
            <TextArea name="text" label={`Your reply to ${displayName}`} required />
            <Button>Send</Button>
          </Form>
        </details>
      )}
    </>
  );
};
