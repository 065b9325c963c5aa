import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { describeStory } from '@countersign/testkit/describe-story';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { readText } from '../architecture/repository.ts';
import { axeFindings, openChromium, openVisitor } from './_console.ts';
import { Reading } from './_reading.ts';
import { typeInForeground } from './_terminal.ts';
import { Walk } from './_walk.ts';

let reading: Reading;
let chromium: Awaited<ReturnType<typeof openChromium>>;
/** A page that the link of the first terminal signed in. */
let page: Awaited<ReturnType<typeof openVisitor>>['page'];

beforeAll(async () => {
  chromium = await openChromium();
  const section = /^## Ten minutes$(.*?)^## /ms.exec(readText('README.md'))?.[1] ?? '';
  reading = await Reading.begin(new Walk('the README', section), 'agent()');
});
afterAll(async () => {
  await chromium.close();
  await reading.end();
});

const blockWith = (words: string): string => reading.walk.blockWith(words);
const typed = (words: string): Promise<string> => reading.second.type(blockWith(words));

/** Types a block repeatedly, as the README asks. */
async function repeated(words: string, wanted: string): Promise<string> {
  const commands = blockWith(words);
  return await untilAnswered(async () => {
    const printed = await reading.second.type(commands).catch((error: unknown) => String(error));
    return printed.includes(wanted) && printed;
  });
}

/** The value that the first terminal printed. */
const printedAs = (name: string): string =>
  new RegExp(`^ *${name} +(http\\S+)$`, 'm').exec(reading.first.printed())?.[1] ?? '';

describeStory('the ten-minute introduction in the README', () => {
  describe('in the console, from the address that the first terminal shows', () => {
    verifies(
      'sys.quickstart',
      'an organisation is named, a task waits, is approved and leaves a receipt that the browser verifies',
      async () => {
        const visitor = await openVisitor(chromium, printedAs('Console').replace('/console', ''));
        const { faults } = visitor;
        page = visitor.page;
        const link = printedAs('Signs you in once');
        await page.goto(link);
        await page.getByLabel('Name of the organisation').fill('Lighthouse');
        expect(await axeFindings(page)).toEqual([]);
        await page.keyboard.press('Enter');
        await page.getByLabel('Name of the organisation').waitFor({ state: 'detached' });
        for (const key of ['g', 'r']) await page.keyboard.press(key);
        await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
        await page.keyboard.press('n');
        await page.getByRole('dialog').getByRole('button', { name: 'Start' }).press('Enter');
        await page.getByText('Open the inbox').waitFor();
        for (const key of ['g', 'i']) await page.keyboard.press(key);
        await page.getByRole('article', { name: 'files.write_file, pending' }).waitFor();
        await page.keyboard.press('a');
        await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).waitFor();
        await page.keyboard.press('Control+Enter');
        await page.getByText('files.write_file: approved').waitFor();
        for (const key of ['g', 'v']) await page.keyboard.press(key);
        await page.getByRole('table').waitFor();
        await page.keyboard.press('v');
        await page.getByText('Verified in this browser').waitFor();
        expect(faults.filter((fault) => !fault.includes('/sign-in/'))).toEqual([]);
        const again = await fetch(link, { headers: { accept: 'text/html' }, redirect: 'manual' });
        expect([again.status, again.headers.getSetCookie()]).toEqual([404, []]);
      },
    );
  });

  describe('typed block by block into fresh shells', () => {
    verifies('sys.quickstart', 'a read is allowed and an undeclared effect denied, each with a receipt', async () => {
      const [read, drop] = [await typed('crm.read'), await typed('crm.drop')];
      for (const member of ["verdict: 'ALLOW'", 'trace: [', 'signature: {']) expect(read).toContain(member);
      for (const member of ["verdict: 'DENY'", "'POLICY_DENIED'", 'signature: {']) expect(drop).toContain(member);
    });

    verifies('sys.quickstart', 'a call that is hard to undo waits for a person, and is allowed once', async () => {
      await page.goto(await typed('mail.send'));
      await page.getByRole('article', { name: 'mail.send, pending' }).waitFor();
      await page.keyboard.press('a');
      await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).waitFor();
      await page.keyboard.press('Control+Enter');
      await page.getByText('mail.send: approved').waitFor();
      const repeat = blockWith('mail.send');
      expect([await reading.second.type(repeat), await reading.second.type(repeat)]).toEqual(['ALLOW', 'ESCALATE']);
    });

    verifies(
      'sys.quickstart',
      'an SDK gets the reason why its tool may not run, and may run the tool once it is declared',
      async () => {
        expect(readText('infra/local/examples/agent.mjs').trim()).toBe(blockWith('import OpenAI'));
        expect(await typed('agent.mjs')).toMatch(
          /close_ticket was not executed: DENY POLICY_DENIED.*without a declared effect/,
        );
        await typed('>> .countersign/policy.yaml');
        await untilAnswered(() => Promise.resolve(/^Policy activated: .* epoch 2, /m.test(reading.first.printed())));
        expect(await typed('agent.mjs')).toBe('Run close_ticket with {"id": 7}');
      },
    );

    verifies('sys.quickstart', 'Ctrl-C ends everything, and the next start has one more MCP server', async () => {
      await typed('clock.now: {');
      expect(await reading.first.interrupt()).toBe(0);
      reading.first = await typeInForeground(blockWith('make up'), reading.place);
      expect(await typed('clock.now')).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    });

    verifies('sys.quickstart', 'a task of the workspace waits for its owner and is then executed', async () => {
      expect(await typed('TASK=')).toBe('queued');
      await repeated('data[0].status', 'awaiting_approval');
      expect(await typed('APPROVAL=')).toBe('approved');
      expect(await repeated('data[0].status', 'completed')).toContain('Dear customer');
    });

    verifies(
      'sys.quickstart',
      'the session is verified offline up to the last receipt that the reader saved',
      async () => {
        expect(await typed('--head')).toMatch(/^VERIFIED: .*completeness +COMPLETE.*END_PROVEN/s);
      },
    );

    it('these tests have typed every command of the document', () => {
      expect(reading.walk.left).toEqual([]);
    });
  });
});
