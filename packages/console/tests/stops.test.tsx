import { stage, workspaceId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen } from '@testing-library/react';
import { freezeTarget, getOps, throttleTarget } from '@countersign/contracts/control-plane';
import { StopsPage } from '../src/stops/stops-page.tsx';

const nothingStopped = {
  ...{ workspace_id: workspaceId, kernel: 'ok', fences: [], more_fences: false, unconfirmed: [] },
  boundary: {
    ...{ status: 'ready', mode: 'enforce', last_proven_fail_closed: null },
    ...{ open_dispatches: 0, pending_approvals: 0 },
  },
};

describe('the page of stops', () => {
  it('asks nothing of the services for a stop that names no tool', async () => {
    const { peer, user, show } = stage();
    peer.answers(getOps, nothingStopped);
    show(<StopsPage />);
    await screen.findByRole('heading', { name: 'Nothing is stopped' });
    await user.click(screen.getByRole('button', { name: 'Throttle' }));
    await user.type(await screen.findByLabelText(/^Why/), 'too fast');
    await user.type(screen.getByLabelText(/^Name of the tool/), ' ');
    await user.click(screen.getByRole('button', { name: 'Throttle it' }));
    expect(peer.asked(throttleTarget)).toEqual([]);
    expect(peer.asked(freezeTarget)).toEqual([]);
  });
});
