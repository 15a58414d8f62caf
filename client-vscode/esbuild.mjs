// Bundles the extension (dist/) or its unit tests (out/test-unit/).
import { context, build } from 'esbuild';
import { readdirSync, rmSync } from 'node:fs';

const has = (flag) => process.argv.includes(flag);
const shared = { bundle: true, platform: 'node', target: 'node20', format: 'cjs', logLevel: 'warning' };

if (has('--tests')) {
  rmSync('out/test-unit', { recursive: true, force: true });
  const entryPoints = readdirSync('test-unit').filter((name) => name.endsWith('.test.ts')).map((name) => `test-unit/${name}`);
  await build({ ...shared, entryPoints, outdir: 'out/test-unit', sourcemap: 'inline' });
} else {
  const options = {
    ...shared,
    entryPoints: ['src/extension.ts'],
    outfile: 'dist/extension.js',
    external: ['vscode'],
    minify: has('--production'),
    sourcemap: !has('--production'),
  };
  if (has('--watch')) {
    const watching = await context(options);
    await watching.watch();
  } else {
    await build(options);
  }
}
