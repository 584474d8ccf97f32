mkdir -p /tmp/h3/dbg && cd /tmp/h3/dbg && python3 - <<'P'
s=open('/tmp/h3/results_test.mjs').read(); a=s.index('const scenario = `')+len('const scenario = `'); b=s.index('`;',a); open('three.toml','w').write(s[a:b])
P
rm -rf out; /tmp/h3/b/simgrad run three.toml --seeds 1..2 --out out --quiet; python3 - <<'P'
import json,re
d=json.load(open('out/results.json'))
for r in d['runs']:
    if r['parameters']['cluster.workers']==4: print(r['label'][:12], r['seed'], [r[k] for k in ('compute_s','communicate_s','wait_s','down_s','simulated_s')])
h=open('out/report.html').read(); j=re.search(r'id="simgrad-data">(.*?)</script>',h,re.S).group(1); R=json.loads(j)
for r in R['time']['rows']: print(R['strategies'][r['strategy']]['label'][:12], R['points'][r['point']]['text'], r['parts'])
row=[r for r in R['links']['rows']]; print(R['strategies'][row[0]['strategy']], row[0]['links'][:2])
print(R['answer']['lines'], [p['text'] for p in R['points']])
P
