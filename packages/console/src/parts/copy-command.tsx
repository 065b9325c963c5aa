import { Button } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useShortcuts } from '../keys/shortcuts.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { commandOf } from './command-of.ts';

type Props = {
  /** The subcommand of `countersign`. */
  words: string;
  filters?: Record<string, string | undefined>;
  /** The number of items on the page. */
  count: number;
  /** `false` when another list of the page has the shortcut. */
  hasShortcut?: boolean;
};

const shownForMs = 1_500;
/** The most items that one command prints. */
const printedMax = 100_000;

/** The command below a list. It prints the same ids in the same order. */
export function CopyCommand({ words, filters = {}, count, hasShortcut = true }: Props) {
  const { id } = useWorkspace();
  const { copy, copied } = useClipboard({ timeout: shownForMs });
  const isPrinted = count > 0 && count <= printedMax;
  const command = !isPrinted ? null : commandOf(id, words, { ...filters, limit: count });
  const take = () => {
    if (command !== null) copy(command);
  };
  useShortcuts(hasShortcut ? [{ keys: 'c', says: 'Copy the list as a command', run: take }] : []);
  if (command === null) return null;
  return (
    <p className="more">
      <Button size="xs" variant="default" title={command} onClick={take}>
        Copy as a command
      </Button>{' '}
      <span role="status">{copied && 'Copied: paste it into a terminal'}</span>
    </p>
  );
}
