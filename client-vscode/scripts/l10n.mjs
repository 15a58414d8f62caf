// Collects what the source says to people into l10n/bundle.l10n.json, which translators start from;
// with --check it changes nothing and fails where the file, or a title in package.json, is not current.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import ts from 'typescript';

const BUNDLE = 'l10n/bundle.l10n.json';
const check = process.argv.includes('--check');
const sentences = new Set();
const problems = [];

for (const name of readdirSync('src').filter((file) => file.endsWith('.ts')).sort()) {
  const source = ts.createSourceFile(name, readFileSync(`src/${name}`, 'utf8'), ts.ScriptTarget.Latest, true);
  const visit = (node) => {
    if (ts.isCallExpression(node) && node.expression.getText() === 'l10n.t') {
      const [first] = node.arguments;
      if (first && ts.isStringLiteralLike(first)) sentences.add(first.text);
      else problems.push(`${name}: l10n.t needs a plain string first`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

const titles = JSON.parse(readFileSync('package.nls.json', 'utf8'));
const used = new Set([...readFileSync('package.json', 'utf8').matchAll(/"%([^%"]+)%"/g)].map((match) => match[1]));
for (const key of used) if (!(key in titles)) problems.push(`package.nls.json has no ${key}`);
for (const key of Object.keys(titles)) if (!used.has(key)) problems.push(`package.nls.json: ${key} is used nowhere`);

const bundle = `${JSON.stringify(Object.fromEntries([...sentences].sort().map((text) => [text, text])), null, 2)}\n`;
if (!existsSync(BUNDLE) || readFileSync(BUNDLE, 'utf8') !== bundle) {
  if (check) problems.push(`${BUNDLE} is stale: run npm run l10n`);
  else {
    mkdirSync('l10n', { recursive: true });
    writeFileSync(BUNDLE, bundle);
  }
}

problems.forEach((problem) => console.error(problem));
process.exitCode = problems.length > 0 ? 1 : 0;
