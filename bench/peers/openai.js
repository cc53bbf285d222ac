// openai.js URL: prints the nanoseconds that OpenAI's SDK takes for one stream of a server at this base URL.
'use strict';
const {OpenAI} = require('openai');
const client = new OpenAI({apiKey: 'key', baseURL: process.argv[2], maxRetries: 0});

async function read() {
  const stream = await client.chat.completions.create({
    model: 'gpt-4.1', stream: true, messages: [{role: 'user', content: 'What is the capital of France?'}]});
  let deltas = 0;
  for await (const chunk of stream) if (chunk.choices[0].delta.content) deltas++;
  return deltas;
}

async function main() {
  for (let warm = 0; warm < 20; warm++) await read();
  const streams = 20, start = process.hrtime.bigint();
  for (let i = 0; i < streams; i++) await read();
  console.log(Number(process.hrtime.bigint() - start) / streams);
}
main();
