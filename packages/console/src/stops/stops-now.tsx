import { mayDo } from '@countersign/contracts';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { GivenCommand, StopKind } from '@countersign/contracts/control-plane';
import { useShortcuts } from '../keys/shortcuts.ts';
import { Loaded } from '../parts/loaded.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { Fences } from './fences.tsx';
import { GivenStop } from './given-stop.tsx';
import { holdsIn, type Options } from './holds.ts';
import { stopKinds } from './kinds.ts';
import { ResumeDialog, type Liftable } from './resume-dialog.tsx';
import { KernelAway } from './kernel-away.tsx';
import { StopForm } from './stop-form.tsx';
import { Unconfirmed } from './unconfirmed.tsx';
import { useOps } from './use-ops.ts';

/** The current stops of the workspace, as the kernel confirms them, and the buttons to stop something. */
export function StopsNow() {
  const { role, id } = useWorkspace();
  const queries = useQueryClient();
  const [kind, setKind] = useState<StopKind | null>(null);
  const [lifting, setLifting] = useState<Liftable | null>(null);
  const [input, setGiven] = useState<Options | null>(null);
  const mayStop = mayDo(role, 'stop.give');
  const take = (command: GivenCommand) => {
    setKind(null);
    setGiven({ command, atMs: Date.now() });
    void queries.invalidateQueries({ queryKey: [id, 'ops'] });
  };
  const ops = useOps();
  return (
    <>
      <div className="section-head">
        <p className="quiet">A stop takes effect at once, whatever the policy allows, and needs no approval.</p>
        {mayStop ? (
          <div className="page-actions">
            <StopButtons onStop={setKind} />
          </div>
        ) : (
          <p className="quiet">Only partners and owners can stop calls.</p>
        )}
      </div>
      {input !== null && (ops.data === undefined || holdsIn(input, ops.data, ops.dataUpdatedAt)) && (
        <GivenStop command={input.command} />
      )}
      <Loaded query={ops}>
        {(shown) => (
          <>
            {shown.boundary === null && <KernelAway />}
            <Unconfirmed commands={shown.unconfirmed} />
            <Fences
              ops={shown}
              onStop={mayStop ? () => setKind('throttle') : null}
              onResume={mayDo(role, 'stop.lift') ? setLifting : null}
            />
          </>
        )}
      </Loaded>
      <StopForm kind={kind} onClose={() => setKind(null)} onGiven={take} />
      <ResumeDialog fence={lifting} onClose={() => setLifting(null)} onGiven={take} />
    </>
  );
}

function StopButtons({ onStop }: { onStop: (kind: StopKind) => void }) {
  useShortcuts([
    { keys: 'f', says: 'Freeze', run: () => onStop('freeze') },
    { keys: 't', says: 'Throttle', run: () => onStop('throttle') },
    { keys: 'q', says: 'Quarantine', run: () => onStop('quarantine') },
  ]);
  return (
    <>
      <Button color="red" onClick={() => onStop('freeze')}>
        {stopKinds.freeze.title}
      </Button>
      <Button variant="default" onClick={() => onStop('throttle')}>
        {stopKinds.throttle.title}
      </Button>
      <Button variant="default" onClick={() => onStop('quarantine')}>
        {stopKinds.quarantine.title}
      </Button>
    </>
  );
}
