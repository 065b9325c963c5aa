import { Button } from '@mantine/core';
import type { WorkspaceList } from '../workspace/workspace-list.ts';

/** Below a list that has more than it shows. */
export function More({ list: { query, onwards, back } }: { list: WorkspaceList<unknown> }) {
  if (onwards === null && back === null) return null;
  const terms = { size: 'xs', variant: 'default', loading: query.isPlaceholderData } as const;
  return (
    <p className="more">
      {back !== null && (
        <Button {...terms} onClick={back}>
          Page before
        </Button>
      )}{' '}
      {onwards !== null && (
        <Button {...terms} onClick={onwards.act}>
          {onwards.isGrowth ? 'Show more' : 'Next page'}
        </Button>
      )}
    </p>
  );
}
