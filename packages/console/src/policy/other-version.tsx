import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { PolicyDraft } from '@countersign/contracts/control-plane';
import { Loaded } from '../parts/loaded.tsx';
import { ShownText } from '../parts/shown.tsx';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { usePolicy } from './use-policy.ts';

type Props = {
  stored: PolicyDraft;
  text: string;
  onTaken: (draft: PolicyDraft) => void;
  onDiscarded: (text: string) => void;
};

/**
 * Shown when another person has changed the draft. The reader compares both texts and chooses one. Both are kept until
 * then.
 */
export function OtherVersion({ stored, text, onTaken, onDiscarded }: Props) {
  const { id } = useWorkspace();
  const policy = usePolicy();
  const queries = useQueryClient();
  const theirs = useWorkspaceQuery(['policy', 'theirs', stored.version], (_, signal) =>
    policy.getPolicyDraft({ params: { id }, signal }),
  );
  const goOn = (draft: PolicyDraft, isDiscarded: boolean) => {
    queries.setQueryData([id, 'policy', 'draft'], { draft, templates: [] });
    onTaken(draft);
    if (isDiscarded) onDiscarded(draft.text);
  };
  return (
    <Loaded query={theirs}>
      {({ draft }) =>
        draft !== null && (
          <section className="note">
            <h2>
              Your text is based on version {stored.version}. The current version is {draft.version}
            </h2>
            <ShownText text={draft.text} label={`Version ${draft.version}`} />
            <Button size="xs" variant="default" onClick={() => goOn(draft, true)}>
              Take version {draft.version} and discard mine
            </Button>
            <Button size="xs" variant="default" disabled={text === draft.text} onClick={() => goOn(draft, false)}>
              Keep mine and overwrite
            </Button>
          </section>
        )
      }
    </Loaded>
  );
}
