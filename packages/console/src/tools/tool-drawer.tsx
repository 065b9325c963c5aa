import { Drawer } from '@mantine/core';
import { jsonDifferences, visibleText } from '@countersign/contracts';
import type { RegisteredTool } from '@countersign/contracts/governance-kernel';
import { CopyText } from '../parts/copy-text.tsx';
import { Mark } from '../parts/mark.tsx';
import { Shown, ShownJson, ShownText } from '../parts/shown.tsx';
import { pinTones, pinWords } from './pins.ts';

type Props = { tool: RegisteredTool | null; onClose: () => void };

export function ToolDrawer({ tool, onClose }: Props) {
  return (
    <Drawer opened={tool !== null} onClose={onClose} title="Tool" position="right" size="lg">
      {tool !== null && <Whole tool={tool} />}
    </Drawer>
  );
}

function Whole({ tool }: { tool: RegisteredTool }) {
  const { pin, pinned_hash, observed_hash, definition } = tool;
  return (
    <div className="stacked">
      <h2>
        <Shown text={tool.tool} />
      </h2>
      <p>
        <Mark tone={pinTones[pin]}>{pinWords[pin]}</Mark> {says[pin]}
      </p>
      <dl className="facts">
        <dt>Approved</dt>
        <dd>{pinned_hash === null ? 'never' : <CopyText text={pinned_hash} />}</dd>
        <dt>Last seen</dt>
        <dd>
          <CopyText text={observed_hash} />
        </dd>
      </dl>
      {pin === 'drifted' && <Drift tool={tool} />}
      {definition === null ? (
        <p className="quiet">The definition is too long to show. Its hash is above.</p>
      ) : (
        <ShownJson value={definition} label={pin === 'unpinned' ? 'Definition, not approved' : 'Approved definition'} />
      )}
    </div>
  );
}

const says: Readonly<Record<RegisteredTool['pin'], string>> = {
  in_sync: 'The server offers the approved definition.',
  drifted: 'The server changed the definition, so calls are blocked.',
  unpinned: 'The tool appeared after its server was approved, so calls are blocked.',
};

/** The changes since the approval. All text comes from the server and is shown as plain text. */
function Drift({ tool: { definition, observed_definition } }: { tool: RegisteredTool }) {
  if (definition === null || observed_definition === null)
    return <p className="quiet">The change is too long to show. The two hashes differ.</p>;
  return (
    <section aria-label="What has changed">
      <h3>What has changed</h3>
      {jsonDifferences(definition, observed_definition).map(({ path, before, after }) => (
        <div key={path}>
          <h4>
            <Shown text={path} />
          </h4>
          <p className="quiet">Approved</p>
          <ShownText text={before ?? 'was not there'} label={`Approved: ${visibleText(path)}`} />
          <p className="quiet">Current</p>
          <ShownText text={after ?? 'is gone'} label={`Current: ${visibleText(path)}`} />
        </div>
      ))}
    </section>
  );
}
