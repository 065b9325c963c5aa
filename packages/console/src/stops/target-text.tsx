import { useNameOf } from '../parts/who.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

const kindWords: Readonly<Record<string, string>> = { agent: 'Agent', tool: 'Tool', connector: 'Server' };

/** The target of a stop in words, such as `Tool crm.read`. The tooltip shows it as the routes write it. */
export function TargetText({ target }: { target: string }) {
  const { id } = useWorkspace();
  const [kind = '', ...rest] = target.split(':');
  const name = rest.join(':');
  const shown = useNameOf(name);
  const word = kindWords[kind];
  if (target === `workspace:${id}`) return <span title={target}>This workspace</span>;
  if (word === undefined || name === '') return <Shown text={target} />;
  return (
    <span title={target}>
      {word} <Shown text={shown} />
    </span>
  );
}
