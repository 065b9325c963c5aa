import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeStory } from '@countersign/testkit/describe-story';
import { directives } from '@countersign/testkit/scripted-model';
import { readText } from '../architecture/repository.ts';
import { Reading } from './_reading.ts';
import { Walk } from './_walk.ts';

const startMs = 120_000;
const stepMs = 60_000;
const page = 'docs/how-to/try-without-a-model.md';
let reading: Reading;

beforeAll(async () => {
  reading = await Reading.begin(new Walk(page, readText(page)), 'pick()');
}, startMs);
afterAll(() => reading.end(), startMs);

const model = 'model_call ALLOW';
const read = 'tool_call files.read_text_file ALLOW';

describeStory('trying without a model, typed block by block', () => {
  it('needs no directive that the page does not name, and the page names no other', () => {
    const table = /^## Directives$(.*?)^Several/ms.exec(readText(page))?.[1] ?? '';
    const named = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, directive]) => directive);
    expect(named).toEqual(Object.keys(directives));
    const blocks = [...readText(page).matchAll(/^work <<'END'\n(.*?)^END$/gms)].map(([, lines = '']) => lines);
    const written = blocks
      .join('')
      .split('\n')
      .filter((line) => line !== '');
    expect(written.length).toBeGreaterThan(8);
    const isDirective = (line: string) => Object.values(directives).some((form) => line.search(form) === 0);
    expect(written.filter((line) => !isDirective(line))).toEqual([]);
  });

  it(
    'a read is allowed, and the model has read it',
    async () => {
      await reading.typed('Water the plants');
      const [, ...told] = await reading.repeated('run status', 'completed');
      expect(told.slice(0, 3)).toEqual([model, read, model]);
      expect(told.join('\n')).toContain('Water the plants.');
    },
    stepMs,
  );

  it(
    'a credential is denied, and the run ends',
    async () => {
      await reading.typed('.env');
      const [, ...told] = await reading.repeated('run status', 'denied');
      expect(told.slice(0, 2)).toEqual([model, 'tool_call files.read_text_file DENY']);
      expect(told).toHaveLength(3);
    },
    stepMs,
  );

  it(
    'an overwrite waits, and is made once a person approves',
    async () => {
      await reading.typed('letter.md');
      await reading.repeated('run status', 'awaiting_approval');
      expect(await reading.typed('"approved"')).toEqual(['approved']);
      expect(await reading.repeated('letter.md', 'completed')).toEqual(['completed', 'Dear customer']);
    },
    stepMs,
  );

  it(
    'another waits, and is never made once a person rejects it',
    async () => {
      await reading.typed('invoice.md');
      await reading.repeated('run status', 'awaiting_approval');
      expect(await reading.typed('"rejected"')).toEqual(['rejected']);
      const [, why, ...files] = await reading.repeated('run error.message', 'denied');
      expect(why).toContain('Once is enough');
      expect(files).toEqual(['letter.md', 'notes.md']);
    },
    stepMs,
  );

  it(
    'a model that is told of a denial goes another way',
    async () => {
      expect(await reading.typed('deniedCall')).toEqual(['tell']);
      const [, ...told] = await reading.repeated('run status', 'completed');
      const other = [model, read, model];
      expect(told.slice(0, 5)).toEqual([model, 'tool_call files.read_text_file DENY', ...other]);
      expect(told.join('\n')).toMatch(/1\. This call was not made: .*POLICY_DENIED.*^2\. Water the plants\.$/ms);
    },
    stepMs,
  );

  it(
    'a run ends when its iterations are used up',
    async () => {
      expect(await reading.typed('maxIterationBudget')).toEqual(['2']);
      const [, ...told] = await reading.repeated('run status', 'budget_exhausted');
      expect(told.slice(0, -1)).toEqual([model, 'tool_call files.list_directory ALLOW', model, read, read]);
      expect(told.at(-1)).toBe('The run used its last iteration before it was done.');
    },
    stepMs,
  );

  it('holds no command that was not typed here', () => {
    expect(reading.walk.left).toEqual([]);
  });
});
