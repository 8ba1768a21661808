"""Runs that are collected into a file on one host and merged on another."""
