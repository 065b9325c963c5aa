import { Button } from '@mantine/core';
import type { WorkspaceList } from '../workspace/workspace-list.ts';

/** The buttons below a list that has more items than it shows. */
export function More({ list: { query, onwards, back } }: { list: WorkspaceList<unknown> }) {
  if (onwards === null && back === null) return null;
  const terms = { size: 'xs', variant: 'default', loading: query.isPlaceholderData } as const;
  return (
    <p className="more">
      {back !== null && (
        <Button {...terms} onClick={back}>
          Previous page
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
