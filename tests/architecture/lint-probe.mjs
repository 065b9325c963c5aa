// Reads {"paths": [...], "texts": [...]} and prints, by one linter for all: the rules that hold for each path, and the names of the rules that
// speak of each text in the place of a real source file.
import { text } from 'node:stream/consumers';
import { ESLint } from 'eslint';

// In a single run the parser would take the file from the disk instead of the text.
process.env.TSESTREE_SINGLE_RUN = 'false';
const { paths, texts } = JSON.parse(await text(process.stdin));
const eslint = new ESLint();
const rules = {};
for (const path of paths) rules[path] = (await eslint.calculateConfigForFile(path)).rules;
const spoken = [];
for (const source of texts) {
  const [result] = await eslint.lintText(source, { filePath: 'contracts/src/route.ts' });
  spoken.push(result.messages.map(({ ruleId }) => ruleId));
}
process.stdout.write(JSON.stringify({ rules, spoken }));
