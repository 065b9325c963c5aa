import { at, stage } from './_dom.tsx';
import { dimmed } from './_dimmed.ts';
import { describe, expect, it } from '@jest/globals';
import { screen, within } from '@testing-library/react';
import {
  getBillingAccount,
  getInvoice,
  getUsage,
  listAdministeredOrgs,
  putBudget,
  putOrgSettings,
  putSubscription,
  startCheckout,
} from '@countersign/contracts/commercial-gateway';
import { BillingPage } from '../src/billing/billing-page.tsx';
import {
  answersOrg,
  answersSelfHosted,
  answersTeam,
  invoice,
  invoiceId,
  orgId,
  otherWorkspaceId,
  receiptId,
} from './_commercial.ts';

function atBilling(answers: (peer: ReturnType<typeof stage>['peer']) => void, path = '/billing') {
  const here = stage();
  answers(here.peer);
  here.show(<BillingPage />, { path });
  return here;
}

describe('the billing page', () => {
  it('shows only usage for a self-hosted installation without a subscription, and states that nothing is limited', async () => {
    atBilling(answersSelfHosted);
    await screen.findByRole('heading', { name: 'No limits' });
    expect(within(screen.getByRole('region', { name: 'This period' })).getByText('41')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Change plan' })).toBeNull();
    expect(screen.queryByRole('link', { name: 'Invoices' })).toBeNull();
    expect(screen.queryByRole('heading', { name: 'Limits' })).toBeNull();
  });

  it('links to the setup when the workspace has no organisation', async () => {
    atBilling((peer) => {
      answersSelfHosted(peer);
      answersOrg(peer, null);
    });
    await screen.findByRole('heading', { name: 'No organisation yet' });
    expect(screen.getByRole('link', { name: 'Set up the organisation' }).getAttribute('href')).toBe(
      '/console/overview',
    );
  });

  it('shows people who are not the administrator why they see nothing, with a button to try again', async () => {
    const { peer, user } = atBilling((request) => {
      answersSelfHosted(request);
      request.refuses(getBillingAccount, 'NOT_FOUND');
    });
    await screen.findByRole('heading', { name: 'Only the administrator sees this page' });
    answersSelfHosted(peer);
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    await screen.findByRole('heading', { name: 'No limits' });
  });

  it('shows limits with their usage, exact amounts, and the next step of an unpaid subscription', async () => {
    atBilling(answersTeam);
    const period = within(await screen.findByRole('region', { name: 'This period' }));
    expect(period.getByRole('progressbar', { name: 'Tool calls: 92% used' }).className).toContain('bar-bad');
    expect(period.getByText('of 150,000 included')).toBeTruthy();
    expect(period.getByText(/After that: €0.40 a thousand\.$/)).toBeTruthy();
    const limits = within(screen.getByRole('region', { name: 'Limits' }));
    expect(limits.getByText('6 left.')).toBeTruthy();
    expect(limits.getByText('At most 15')).toBeTruthy();
    expect(screen.getByText('€90,071,992,547,409.93')).toBeTruthy();
    const plan = within(screen.getByRole('region', { name: 'Plan' }));
    expect(plan.getByText('€49.00')).toBeTruthy();
    expect(plan.getByText('Pay the open invoice. After 14 days no new runs start.')).toBeTruthy();
  });

  it('keeps old data, dimmed and with its time, while the commercial gateway is unavailable', async () => {
    const { peer, readAgain } = atBilling(answersTeam);
    const plan = await screen.findByRole('region', { name: 'Plan' });
    expect(plan.closest(dimmed)).toBeNull();
    peer.refuses(getUsage, 'COMMERCIAL_UNAVAILABLE');
    await readAgain();
    await screen.findByRole('heading', { name: 'The commercial gateway does not answer' });
    expect(screen.getByText(/^Last updated at .* and may be out of date/)).toBeTruthy();
    expect(screen.getByRole('region', { name: 'Plan' }).closest(dimmed)).not.toBeNull();
  });

  it('sets alerts in minor units of the currency, without a rounding error', async () => {
    const { peer, user } = atBilling(answersTeam);
    peer.answers(putBudget, { amount_minor: 1_999, currency: 'EUR', reached_percent: [75] });
    const amount = await screen.findByLabelText('Amount per period in EUR');
    await user.clear(amount);
    await user.type(amount, '19.999');
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Set alert' }).disabled).toBe(true);
    await user.clear(amount);
    await user.type(amount, '19.99{Enter}');
    await screen.findByText('Set to €19.99. Already reached: 75%.');
    expect(peer.requests(putBudget).map(({ body }) => body)).toEqual([{ amount_minor: 1_999, currency: 'EUR' }]);
  });
});

describe('a change of the plan', () => {
  async function changing() {
    const here = atBilling((peer) => answersTeam(peer, 'active'));
    await here.user.click(await screen.findByRole('button', { name: 'Change plan' }));
    return { ...here, dialog: within(await screen.findByRole('dialog')) };
  }

  it('does not offer the current plan, and ends a subscription only after the name of its plan is typed', async () => {
    const { peer, user, dialog } = await changing();
    expect(dialog.getByRole<HTMLInputElement>('radio', { name: /^Team .*\(current\)/ }).disabled).toBe(true);
    expect(dialog.getAllByRole('radio')).toHaveLength(1);
    expect(dialog.getByRole<HTMLButtonElement>('button', { name: 'Change plan' }).disabled).toBe(true);
    await user.click(dialog.getByRole('button', { name: 'Cancel subscription' }));
    const typed = await screen.findByLabelText('Type Team to go on');
    await user.type(typed, 'Tea{Enter}');
    expect(peer.requests(putSubscription)).toEqual([]);
    peer.answers(putSubscription, { subscription: null, invoice_id: invoiceId });
    await user.type(typed, 'm{Enter}');
    await screen.findByRole('region', { name: 'Plan' });
    expect(peer.requests(putSubscription).map(({ body }) => body)).toEqual([{ plan: null }]);
  });
});

describe('an invoice', () => {
  const usageLine = { kind: 'usage', meter: 'tool_calls', quantity: '1', included: '0', amount_minor: '400' };
  const tiers = [{ up_to: null, unit_amount_decimal: '400', quantity: '1' }];
  const lines = [
    { kind: 'base', amount_minor: '4900' },
    { ...usageLine, tiers },
  ];
  const event = { source: '/governance-kernel/receipts', id: receiptId, quantity: '1', occurred_at: at };
  const events = {
    data: [{ ...event, receipt_id: receiptId, workspace_id: otherWorkspaceId }],
    next_cursor: null,
  };

  function atInvoice() {
    return atBilling((peer) => {
      answersTeam(peer);
      peer.answers(getInvoice, { ...invoice, lines, events });
    }, `/billing/${invoiceId}`);
  }

  it('links a line of usage to its receipts, in the workspace that contains them', async () => {
    const { peer, user } = atInvoice();
    expect(await screen.findByText('€50.00')).toBeTruthy();
    await user.click(await screen.findByRole('button', { name: 'Show what Tool calls counts' }));
    const link = await screen.findByRole('link', { name: receiptId });
    expect(link.getAttribute('href')).toBe(`/console/activity/${receiptId}?workspace=${otherWorkspaceId}`);
    expect(peer.requests(getInvoice).at(-1)?.query).toMatchObject({ meter: 'tool_calls' });
  });

  it('is paid on a page of the provider, and never at an address that would run a script', async () => {
    const { peer, user } = atInvoice();
    const opened = { checkout_id: 'chk_01ARZ3NDEKTSV4RRFFQ69G5FAV', provider: 'stripe', expires_at: at };
    peer.answers(startCheckout, { ...opened, url: 'javascript:alert(1)' });
    await user.click(await screen.findByRole('button', { name: 'Pay invoice' }));
    expect(screen.queryByRole('link', { name: /payment page/ })).toBeNull();
    peer.answers(startCheckout, { ...opened, url: 'https://pay.example/1' });
    await user.click(await screen.findByRole('button', { name: 'Pay invoice' }));
    const link = await screen.findByRole('link', { name: 'Continue to the payment page' });
    expect(link.getAttribute('href')).toBe('https://pay.example/1');
    expect(peer.requests(startCheckout).at(-1)?.body).toEqual({ purpose: 'invoice', invoice_id: invoiceId });
  });
});

describe('all organisations', () => {
  const override = { limits: { tool_calls: 5 }, capabilities: [], expires_at: at };
  const org = {
    ...{ org_id: orgId, name: 'Lighthouse', admin_id: 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV', subscription: null },
    ...{ usage: [], metering_lag_seconds: 2, suspension: null, override: { ...override, created_at: at } },
  };

  it('are shown only to administrators of the installation', async () => {
    atBilling(answersTeam);
    await screen.findByRole('link', { name: 'Ledger' });
    expect(screen.queryByRole('link', { name: 'All organisations' })).toBeNull();
  });

  it('are suspended with a reason, and keep their exception', async () => {
    const { peer, user } = atBilling((request) => {
      answersTeam(request);
      request.answers(listAdministeredOrgs, { data: [org], next_cursor: null });
    }, '/billing/organisations');
    peer.answers(putOrgSettings, { suspension: null, override: null });
    await screen.findByRole('link', { name: 'All organisations' });
    await user.click(await screen.findByRole('button', { name: 'Suspend Lighthouse' }));
    await user.type(await screen.findByLabelText('Reason'), 'unpaid for a year{Enter}');
    await screen.findByRole('article', { name: 'Lighthouse' });
    expect(peer.requests(putOrgSettings).map(({ body }) => body)).toEqual([
      { suspension: { reason: 'unpaid for a year' }, override },
    ]);
  });
});
