import { Button } from '@mantine/core';
import type { z } from 'zod';
import type { getPolicyDraft } from '@countersign/contracts/control-plane';
import { EmptyState } from '../parts/empty-state.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useWriteDraft } from './use-draft.ts';

type Templates = z.infer<typeof getPolicyDraft.reply>['templates'];

const titles: Readonly<Record<string, string>> = {
  'in-force': 'Start from the active rules',
  'two-person': 'Start from the two-person rule',
};

/** The templates for a first draft, each with a summary. */
export function FirstDraft({ templates }: { templates: Templates }) {
  const write = useWriteDraft();
  return (
    <EmptyState title="No draft yet">
      <p>A draft is visible to members only and decides nothing. Try it on past calls, then activate it.</p>
      <div className="stacked">
        {templates.map(({ name, summary, text }) => (
          <div key={name}>
            <p>{summary}</p>
            <Button
              size="xs"
              variant="default"
              loading={write.isPending}
              onClick={() => write.mutate({ text, version: 0 })}
            >
              {titles[name] ?? `Begin with ${name}`}
            </Button>
          </div>
        ))}
      </div>
      {write.error !== null && <ProblemNote error={write.error} />}
    </EmptyState>
  );
}
