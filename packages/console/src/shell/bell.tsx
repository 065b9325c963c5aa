import { IconBell } from '@tabler/icons-react';
import type { MouseEvent } from 'react';
import { useSnapshot } from '../live/snapshot.ts';
import { Attention, AttentionSummary } from '../overview/attention.tsx';
import { countForPerson } from '../overview/needs.ts';
import { PopUp } from '../parts/pop-up.tsx';

/** The items that need the person, on every page. It shows the same list as the overview. */
export function Bell() {
  const { data, error } = useSnapshot();
  const count = error === null && data !== undefined ? countForPerson(data) : 0;
  const face = (
    <>
      <IconBell size={17} aria-hidden="true" />
      {count > 0 && <span className="bell-dot" />}
    </>
  );
  const label = count === 0 ? 'Needs attention' : `Needs attention: ${count}`;
  return (
    <span className="bell wide-only">
      <PopUp name="Needs attention" label={label} className="plain-button bar-button" face={face}>
        {(close) => <Panel onLeave={close} />}
      </PopUp>
    </span>
  );
}

function Panel({ onLeave }: { onLeave: () => void }) {
  const clicked = ({ target }: MouseEvent) => {
    if (target instanceof Element && target.closest('a') !== null) onLeave();
  };
  return (
    <div onClick={clicked}>
      <p className="quiet">
        <AttentionSummary />
      </p>
      <Attention />
    </div>
  );
}
