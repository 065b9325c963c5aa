import { Button } from '@mantine/core';
import type { Ending } from './ending.ts';

type EndCellProps = { act: string; ending: Ending; onEnd: (ending: Ending) => void };

/** Opens a confirmation before anything ends. */
export function EndCell({ act, ending, onEnd }: EndCellProps) {
  return (
    <td className="tight number">
      <Button size="compact-xs" variant="default" onClick={() => onEnd(ending)}>
        {act}
      </Button>
    </td>
  );
}
